"""Draw the pictures that show the default model at work: its attention, a notebook's output and the page.

Example: python docs/pictures/draw.py docs/pictures
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

import gareader
from gareader.data.sources import STORIES


def notebook(browser: Browser, html: str, out: Path) -> None:
    """Draw a prediction as a notebook shows it, light and dark side by side."""
    cells = "".join(
        f'<div style="background:{paper};padding:14px;width:792px" data-jp-theme-light="{light}">{html}</div>'
        for paper, light in (("#fff", "true"), ("#111", "false"))
    )
    page = browser.new_page(viewport={"width": 1640, "height": 400})
    page.set_content(f'<!doctype html><body style="margin:0;display:flex">{cells}</body>')
    page.screenshot(path=out, full_page=True)
    page.close()


def service_page(browser: Browser, out: Path) -> None:
    """Draw the page of `gareader serve` after the question of its first text."""
    command = [sys.executable, "-m", "gareader", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:  # noqa: S603
        try:
            address = next(found[0] for line in service.stderr or () if (found := re.search(r"http://\S+", line)))
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address)
            page.get_by_role("button", name="Answer", exact=True).click()
            final = page.get_by_role("button", name="Final")
            expect(final).to_be_visible(timeout=60_000)
            final.click()
            page.screenshot(path=out)
        finally:
            service.terminate()


def main(folder: Path) -> None:
    """Draw all of them."""
    model = gareader.load()
    bundled = {example.id: model.answer_example(example) for example in gareader.read(STORIES)}
    bundled["goose"].plot(folder / "attention.png")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        notebook(browser, bundled["lighthouse"]._repr_html_(), folder / "notebook.png")
        service_page(browser, folder / "page.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
