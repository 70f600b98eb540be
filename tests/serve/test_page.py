"""The page in a real browser: load, type, answer, switch hops, point at words, links, keys, errors."""

import re
import shutil
from itertools import pairwise

import pytest
from playwright.sync_api import Route, expect, sync_playwright

from gareader.serve.messages import Limits
from gareader.trained.predictor import load
from serve.serving import served

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def address():
    """a service with the model in the box."""
    with served({"stories": load()}, limits=Limits(document_words=2000)) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser, address):
    """A page that has answered the first story; what the browser complains about fails the test."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints, requests = [], []
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(address)
    opened.wait_for_selector("#answers li")
    yield opened
    assert [text for text in complaints if "status of 4" not in text] == []
    assert all(url.startswith((address, "data:")) for url in requests)
    opened.close()


def answers(page):
    return page.locator("#answers li span:first-child").all_inner_texts()


def asked(page):
    """Press the button and wait for what comes."""
    with page.expect_response("**/answer"):
        page.get_by_role("button", name="Answer").click()
    expect(page.locator("main.waiting")).to_have_count(0)


def test_it_opens_with_an_answered_story(page):
    assert answers(page)[0] == "Bessie"
    shares = [float(text.split()[0]) for text in page.locator("#answers .share").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert shares == sorted(shares, reverse=True)
    assert page.locator("#words .best").first.inner_text() == "Bessie"


def coloured(page, words="#words"):
    """The background of every word."""
    return page.locator(f"{words} button").evaluate_all("all => all.map(each => each.style.backgroundColor)")


def hops(page):
    """The buttons of the hops; their number depends on the model in the box."""
    return page.get_by_role("button", name=re.compile(r"^Hop \d+$")).all()


def test_hops_colour_the_story_differently(page):
    final = coloured(page)
    assert any(final)
    seen = [final]
    for button in hops(page):
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        seen.append(coloured(page))
    assert len(seen) > 1
    assert len({tuple(colours) for colours in seen}) == len(seen)
    page.get_by_role("button", name="Final").click()
    assert coloured(page) == final


def test_pointing_at_a_word_shows_what_it_looks_at(page):
    before = coloured(page, "#query-words")
    page.locator("#words button").nth(20).hover()
    assert coloured(page, "#query-words") != before
    assert f"goes with in the query, in hop {len(hops(page))}" in page.locator("#hint").inner_text()
    story = coloured(page)
    page.locator("#query-words button").nth(3).hover()
    assert coloured(page) != story
    assert "Which words of the story go with" in page.locator("#hint").inner_text()


def test_a_story_of_ones_own(page):
    page.get_by_role("button", name="Edit the story").click()
    page.locator("#text").fill("Old Tamsin gave the key to Hugo. Hugo thanked Tamsin and opened the door.")
    page.get_by_role("button", name="Done").click()
    page.locator("#query").fill("So the door was opened by ___.")
    page.get_by_role("button", name="Propose from the story").click()
    expect(page.locator("#chips")).to_contain_text("Hugo")
    page.locator("#new").fill("the door")
    page.get_by_role("button", name="Add").click()
    asked(page)
    assert {"Tamsin", "Hugo", "the door"} <= {answer.removeprefix("Old ") for answer in answers(page)}
    page.get_by_role("button", name="Remove the door").click()
    asked(page)
    assert "the door" not in answers(page)


def test_blanking_a_word_makes_the_question(page):
    with page.expect_response("**/answer"):
        page.locator("#words button", has_text="Peter").nth(1).click()
    question = page.locator("#query").input_value()
    assert question.startswith("___ whistled all the way to the bridge")
    page.wait_for_selector("#answers li")
    assert "Peter" in answers(page)
    assert question.removeprefix("___ ") not in page.locator("#words").inner_text()


def test_a_link_reopens_the_question(page, browser, address):
    page.locator("#query").fill("At last Aunt Rose thanked ___.")
    asked(page)
    link, expected = page.locator("#link").get_attribute("href"), answers(page)
    other = browser.new_page()
    other.goto(address + link)
    other.wait_for_selector("#answers li")
    assert other.locator("#query").input_value() == "At last Aunt Rose thanked ___."
    assert answers(other) == expected
    other.close()


def test_the_other_stories(page):
    with page.expect_response("**/answer"):
        page.locator("#samples").select_option("1")
    expect(page.locator("#answers li span").first).to_have_text("Toby")


@pytest.mark.parametrize(
    ("query", "message"),
    [("There is no gap here.", "needs a blank"), ("___ and ___ ran.", "2 placeholders")],
)
def test_a_wrong_question_is_told(page, query, message):
    page.locator("#query").fill(query)
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#error")).to_contain_text(message)


def test_a_document_without_candidates_is_told(page):
    for name in page.locator("#chips li").all_inner_texts():
        page.get_by_role("button", name=f"Remove {name.removesuffix('×').strip()}", exact=True).click()
    for name in ("Zoë", "Kim"):
        page.locator("#new").fill(name)
        page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#error")).to_contain_text("no candidate occurs in the document")
    assert answers(page) == []


def test_the_keyboard_alone(page):
    page.locator("#words button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "day"
    page.locator("#query").focus()
    with page.expect_response("**/answer"):
        page.keyboard.press("Enter")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Hop 1":
            break
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="Hop 1").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_width_of_a_phone(browser, address, scheme):
    phone = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    phone.goto(address)
    phone.wait_for_selector("#answers li")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    ink, paper = phone.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    light = [sum(map(int, colour.strip("rgb()").split(","))) for colour in (ink, paper)]
    assert (light[0] < light[1]) == (scheme == "light")
    phone.close()


def test_an_opening_mark_stays_with_its_word_and_a_long_row_of_signs_does_not_widen_the_page(browser, address):
    phone = browser.new_page(viewport={"width": 360, "height": 740})
    phone.goto(address)
    phone.wait_for_selector("#answers li")
    phone.get_by_role("button", name="Edit the story").click()
    words = " ".join(f"{'x' * (n % 9 + 1)} “Nell” (said) ‘it’." for n in range(60))
    phone.locator("#text").fill(f"{words} {'.' * 300} {'long' * 50}")
    phone.get_by_role("button", name="Done").click()
    tops = phone.locator("#words button").evaluate_all("all => all.map(each => [each.textContent, each.offsetTop])")
    opening = [(before, after) for before, after in pairwise(tops) if before[0] in "“‘("]
    assert len(opening) == 180
    assert all(before[1] == after[1] for before, after in opening)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    phone.close()


def test_the_page_for_programs(page, address):
    page.goto(address + "docs")
    page.wait_for_selector("text=POST /answer")
    assert "curl" in page.locator("#curl").inner_text()
    expect(page.locator("#operations pre").nth(2)).to_contain_text("two questions, the second with attention")
    page.go_back()
    page.wait_for_selector("#answers li")


def test_words_are_shown_as_they_were_written(page):
    story = "Ann met the constructor [of {old} bridges (here)]. Ben met Ann."
    page.get_by_role("button", name="Edit the story").click()
    page.locator("#text").fill(story)
    page.get_by_role("button", name="Done").click()
    assert page.locator("#words").text_content() == story
    page.locator("#query").fill("___ met Ann.")
    page.get_by_role("button", name="Propose from the story").click()
    expect(page.locator("#chips li")).to_have_count(2)
    asked(page)
    expect(page.locator("#answers li")).to_have_count(2)
    assert page.locator("#words").text_content() == story


def test_the_link_holds_what_has_just_been_written(page):
    page.locator("#query").fill("At last Aunt Rose thanked ___.")
    page.locator("#new").fill("the bridge")
    page.get_by_role("button", name="Add").click()
    with page.expect_response("**/answer"):
        page.get_by_role("link", name="Link to this question").click()
    assert page.locator("#query").input_value() == "At last Aunt Rose thanked ___."
    assert "the bridge" in page.locator("#chips").inner_text()


def test_an_answer_that_comes_late_does_not_take_the_place_of_a_newer_one(page):
    held: list[Route] = []
    page.route("**/answer", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/answer"):
        page.get_by_role("button", name="Answer").click()
    page.locator("#samples").select_option("1")
    expect(page.locator("#answers li span").first).to_have_text("Toby")
    with page.expect_event("requestfinished", lambda request: request.url.endswith("/answer")):
        held[0].continue_()
    page.wait_for_timeout(200)
    assert answers(page)[0] == "Toby"


def test_the_word_under_the_pointer_is_forgotten_with_its_story(page):
    page.locator("#words button").last.hover()
    short = {"d": "Ann met Ben.", "q": "___ met Ben.", "c": ["Ann", "Ben"]}
    with page.expect_response("**/answer"):
        page.evaluate("kept => { location.hash = encodeURIComponent(JSON.stringify(kept)); }", short)
    expect(page.locator("#answers li")).to_have_count(2)
    expect(page.locator("#hint")).to_contain_text("The final attention")
