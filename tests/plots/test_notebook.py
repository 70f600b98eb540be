"""Predictions as HTML for notebooks: safe, bounded, and readable in light and dark."""

import re
import shutil
from html.parser import HTMLParser
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright

from gareader.data.examples import PLACEHOLDER, Attention, Example, Prediction
from gareader.data.prose import detokenise
from gareader.plots.notebook import BARS, WHOLE, percent

CHROMIUM = shutil.which("chromium")
DOCUMENT = tuple("`` Do n't ! '' said Tom . Mary Ann paid $ 5 , not $ 6 , to Tom .".split())
CANDIDATES = ("Tom", "Mary Ann", "Nobody", "Mary Smith")


def predicted(document=DOCUMENT, candidates=CANDIDATES, shares=(0.6, 0.3, 0.0, 0.1), answer=None, looks=True, **fields):
    words = tuple(tuple(each.split()) for each in candidates)
    example = Example("q", document, ("Paid", ":", PLACEHOLDER, "."), words, answer)
    final = np.random.default_rng(0).dirichlet(np.full(len(document), 0.1)).astype(np.float32)
    attention = Attention(("@begin", *example.query, "@end"), (), final) if looks else None
    return Prediction(example, tuple(log(share) if share else -inf for share in shares), attention, **fields)


class Seen(HTMLParser):
    """The tags, attributes and text of HTML; a tag that is not closed fails."""

    def __init__(self, html):
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.styles: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] == "style":
            self.styles.append(text)
        else:
            self.text += text


def test_bars_text_and_legend():
    text = Seen(predicted()._repr_html_()).text
    assert text.startswith(
        "Paid: ___.Tom60 %Mary Ann30 %Mary Smith only in part in the text10 %Nobody not in the text0 %"
    )
    assert "“Don’t!” said Tom. Mary Ann paid $5, not $6, to Tom." in text
    assert re.search(r"0  \d+ %, the largest share of the final attention", text)
    assert "Shown:" not in text


def test_words_are_marked_and_coloured():
    html = predicted()._repr_html_()
    assert html.count('class="gr-word gr-mention gr-best"') == 2
    shares = [float(share) for share in re.findall(r'style="--share:([\d.]+)"', html)]
    assert max(shares) == 1
    assert min(shares) >= 0
    assert "tex2jax_ignore" in html  # no dollars of the text as formulas


@pytest.mark.parametrize(
    ("prediction", "note"),
    [
        (predicted(answer=1), "Wrong: the answer is Mary Ann."),
        (predicted(shares=(0.4, 0.3, 0.0, 0.3)), "Not sure: no answer has 50% or more"),
        (predicted(shares=(0, 0, 0, 0)), "No candidate occurs in the text"),
        (predicted(remark="the text is <odd>"), "Note: the text is <odd>."),
        (predicted(looks=False), "this prediction was made without attention"),
        (predicted(answer=0), "Tom ✓"),
    ],
)
def test_what_is_said_about_an_answer(prediction, note):
    seen = Seen(prediction._repr_html_())
    assert note in seen.text
    assert note not in Seen(predicted()._repr_html_()).text


def test_percent():
    assert [percent(share) for share in (0, 0.0004, 0.023, 0.0996, 0.814, 1)] == [
        *("0 %", "under 0.1 %", "2.3 %", "10 %", "81 %", "100 %")
    ]


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img/src=x/onerror=alert(1)>',
    "&lt;",
    "</style>",
    "--share:1",
    "'",
    "\u202e",
)


@given(st.lists(st.sampled_from(HOSTILE) | st.text(min_size=1).filter(str.strip), min_size=1, max_size=20))
def test_no_word_is_anything_but_text(words):
    words = tuple("".join(word.split()) for word in words)
    first = words[0]
    prediction = predicted((*words, "Tom"), ("Tom", first + "x"), (0.5, 0.5), remark=first)
    seen = Seen(prediction._repr_html_())
    assert seen.tags == {"div", "span", "style"}
    assert seen.attributes <= {"class", "style", "title", "role", "aria-label", "dir"}  # no id, no handler, no address
    assert seen.styles == Seen(predicted()._repr_html_()).styles
    if all(len(word) <= 50 for word in words):
        assert plain(detokenise((*words, "Tom"))) in plain(seen.text)


def plain(text):
    """The text as a browser's parser leaves it: without the characters that HTML cannot hold."""
    return re.sub(r"[\0\r\x80-\x9f]|\s", "", text)


def test_long_texts_are_cut_to_what_the_reader_looked_at():
    document = (*["dull"] * 20_000, "Tom", *["dull"] * 20_000, "x" * 5000)
    prediction = predicted(document, ("Tom", "y" * 5000, *(f"c{n}" for n in range(98))), (0.9, *[0.1 / 99] * 99))
    assert prediction.attention is not None
    prediction.attention.document[:] = 0.5 / len(document)
    prediction.attention.document[20_000] += 0.5
    html = prediction._repr_html_()
    assert len(html) < 100_000
    text = Seen(html).text
    assert "Tom" in text
    assert f"{100 - BARS} more candidates, 9.1 % together." in text
    shown = re.search(r"Shown: ([\d,]+) of 40,002 words, with 5\d % of the attention\.", text)
    assert shown
    kept = int(shown[1])
    assert WHOLE <= kept <= WHOLE + 60
    assert sum(int(each.replace(",", "")) for each in re.findall(r"… ([\d,]+) words? …", text)) == 40_002 - kept


def test_a_long_text_without_attention_and_mentions_has_its_beginning():
    text = Seen(predicted(tuple(f"w{n}" for n in range(1000)), looks=False)._repr_html_()).text
    assert "w0 w1" in text
    assert "of 1,000 words." in text


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium")
def test_the_theme_of_the_notebook_wins_over_that_of_the_system():
    """In a browser, twice on one page; nothing of the text runs."""
    prediction = predicted((*DOCUMENT, *HOSTILE))
    dark, light, script = "rgb(23, 23, 23)", "rgb(255, 255, 255)", "e => getComputedStyle(e).backgroundColor"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        problems = []
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on("request", lambda request: problems.append(request.url))
        page.set_content(f"<body>{prediction._repr_html_()}{predicted()._repr_html_()}")
        outputs = page.locator(".gareader-prediction")
        assert outputs.count() == 2
        for system, theme, expected in [
            ("light", "{}", light),
            ("dark", "{}", dark),
            ("dark", "{'data-jp-theme-light': 'true'}", light),
            ("light", "{'data-jp-theme-light': 'false'}", dark),
            ("light", "{class: 'vscode-dark'}", dark),
            ("dark", "{class: 'vscode-high-contrast vscode-high-contrast-light'}", light),
            ("light", "{theme: 'dark'}", dark),
            ("light", "{'data-md-color-scheme': 'slate'}", dark),
        ]:
            page.emulate_media(color_scheme=system)  # type: ignore[arg-type]
            page.evaluate(f"""() => {{
                for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
                for (const [name, value] of Object.entries({theme})) document.body.setAttribute(name, value);
            }}""")
            assert [each.evaluate(script) for each in outputs.all()] == [expected] * 2, (system, theme)
        browser.close()
    assert problems == []
