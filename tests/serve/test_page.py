"""The page in a real browser, one tab for all tests: texts, questions, answers, attention, links, files, errors."""

import json
import re
import shutil
from itertools import pairwise

import pytest
from playwright.sync_api import Route, expect, sync_playwright

from gareader.serve.messages import Limits
from gareader.trained.predictor import load
from places import PROJECT
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

AXE = PROJECT / "build" / "node_modules" / "axe-core" / "axe.min.js"
HUGO = "Old Tamsin gave the key to Hugo. Hugo thanked Tamsin and opened the door. Behind it sat a cat."
LIMITS = Limits(document_words=3000, attention=25_000)


def models():
    """Two models of the box."""
    return {name: load(name) for name in ("stories", "stories-one-hop")}


@pytest.fixture(scope="module")
def address():
    """A service with two models of the box, and small limits."""
    with served(models(), limits=LIMITS) as place:
        yield place


@pytest.fixture(scope="module")
def tab():
    """The one tab of all tests."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=30_000)  # a busy machine is no failure
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page()
        browser.close()


@pytest.fixture
def quiet(tab, address):
    """The tab; what the browser complains about, or loads from elsewhere, fails the test."""
    complaints, requests = [], []

    def told(message):
        if message.type == "error":
            complaints.append(message.text)

    def failed(error):
        complaints.append(str(error))

    def requested(request):
        requests.append(request.url)

    listeners = {"console": told, "pageerror": failed, "request": requested}
    for event, listener in listeners.items():
        tab.on(event, listener)
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.emulate_media(color_scheme="light")
    yield tab
    tab.unroute_all()
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    tab.goto("about:blank")
    assert [text for text in complaints if "status of 4" not in text and "ERR_FAILED" not in text] == []
    assert all(url.startswith((address, "data:", "blob:", "about:")) for url in requests)


@pytest.fixture
def page(quiet, address):
    """The page as it opens: with the first example, answered."""
    quiet.goto(address)
    quiet.wait_for_selector("#answers li")
    return quiet


def linked(**question):
    """The fragment of a question."""
    return "#" + json.dumps(question)


@pytest.fixture
def opened(quiet, address):
    """Opens the page with a question; with a text alone it asks nothing."""

    def show(**question):
        quiet.goto("about:blank")
        quiet.goto(address + linked(**question))
        expect(quiet.locator("#answers li, #error:not(:empty)").first).to_be_visible()
        return quiet

    return show


def answers(page):
    return page.locator("#answers li span:first-child").all_inner_texts()


def chips(page):
    return [text.removesuffix("×").strip() for text in page.locator("#chips li").all_inner_texts()]


def asked(page):
    """Press the button and wait for what comes."""
    with page.expect_response("**/answer"):
        page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("main.waiting")).to_have_count(0)


def clicked(page, word, number=0):
    """Click a word of the text and wait for the answer to its question."""
    with page.expect_response("**/answer"):
        page.locator("#words button", has_text=re.compile(f"^{word}$")).nth(number).click()
    page.wait_for_selector("#answers li")


def write_text(page, text):
    """Replace the text in the editor."""
    page.locator("#edit").click()
    page.locator("#text").fill(text)
    with page.expect_response("**/candidates"):
        page.get_by_role("button", name="Done").click()
    expect(page.locator("#chips li").first).to_be_visible()


def coloured(page, words="#words"):
    """How strong each word's colour is."""
    return page.locator(f"{words} button").evaluate_all(
        "all => all.map(each => each.style.getPropertyValue('--share'))"
    )


def hops(page):
    """The buttons of the hops; their number depends on the model in the box."""
    return page.get_by_role("button", name=re.compile(r"^Hop \d+$")).all()


# ---- candidates belong to a text ----


def test_a_new_text_gets_its_own_candidates(page):
    page.locator("#edit").click()
    page.locator("#text").fill("Peter Smith is a lawyer. Maria Lopez is a doctor, and she lives in Rome.")
    page.locator("#query").fill("The doctor is ___.")
    asked(page)
    assert {"Peter Smith", "Maria Lopez"} <= set(answers(page))
    assert "Greta" not in chips(page)
    assert page.locator("#words").is_visible()  # where it looked


def test_candidates_that_the_user_wrote_stay_with_their_text(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    page.locator("#new").fill("the door")
    page.get_by_role("button", name="Add").click()
    assert answers(page) == []  # they were those of other candidates
    asked(page)
    assert "the door" in answers(page)
    page.get_by_role("button", name="Remove the door").click()
    asked(page)
    assert "the door" not in answers(page)
    write_text(page, "Ann met Ben. Ben met Carl in Rome.")
    assert not set(chips(page)) & {"Hugo", "Tamsin"}


# ---- a word becomes the question ----


def test_a_clicked_word_hides_its_sentence_until_it_is_brought_back(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    before = answers(page)
    clicked(page, "Hugo", 1)
    assert page.locator("#query").input_value() == "___ thanked Tamsin and opened the door."
    assert page.locator("#words").text_content() == HUGO
    assert page.locator("#words del").text_content() == "Hugo thanked Tamsin and opened the door."
    said = answers(page)[0]
    other = "" if said == "Hugo" else f", the reader says “{said}”"
    verdict = f"{'Wrong' if other else 'Right'}: the text has “Hugo” there{other}."
    assert page.locator("#verdict").inner_text() == verdict
    page.locator("#words .gone").click()
    assert page.locator("#words del").count() == 0
    assert answers(page) == []
    page.keyboard.press("Control+z")
    assert page.locator("#words del").count() == 1
    page.get_by_role("button", name="Undo").click()
    assert page.locator("#query").input_value() == "The door was opened by ___."
    assert answers(page) == before
    assert page.locator("#words del").count() == 0


def test_the_hidden_sentence_is_not_read(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    with page.expect_request("**/answer") as request:
        page.locator("#words button", has_text="Tamsin").nth(1).click()
    assert "thanked" not in request.value.post_data_json["document"]
    assert "Behind it sat a cat." in request.value.post_data_json["document"]


def test_another_question_brings_the_hidden_sentence_back(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    clicked(page, "Hugo", 1)
    page.locator("#query").fill("The key belongs to ___.")
    assert page.locator("#words del").count() == 0
    assert page.locator("#verdict").inner_text() == ""
    with page.expect_request("**/answer") as request:
        page.locator("#query").press("Enter")
    assert request.value.post_data_json["document"] == HUGO


def test_a_word_that_stands_nowhere_else_is_told_before_asking(page):
    text = page.locator("#words").text_content()
    sentences = page.evaluate("state.sentences")
    asks = page.locator("#words button:not(.only)").evaluate_all(
        "all => all.filter(each => each.title).map(each => [each.textContent, Number(each.dataset.at)])"
    )
    assert asks
    for word, at in asks:
        start, end = next((start, end) for start, end in sentences if start <= at < end)
        assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text[:start] + text[end:]), word
    query = page.locator("#query").input_value()
    page.locator("#words button", has_text="lantern").click()
    expect(page.locator("#told")).to_contain_text("“lantern” stands only in this sentence")
    expect(page.locator("#told")).to_contain_text("ask for “Ilse” instead")
    assert page.locator("#query").input_value() == query


def test_a_clicked_word_of_a_name_asks_for_the_whole_name(page):
    clicked(page, "King")
    assert "ask the ___ to let" in page.locator("#query").input_value()
    assert "the text has “Frost King” there" in page.locator("#verdict").inner_text()
    page.locator("#undo").click()
    clicked(page, "Frost", 1)  # the rest of the text alone does not tell that King belongs to it
    assert "said the ___." in page.locator("#query").input_value()
    assert "Frost King" in chips(page)
    assert "Frost" not in chips(page)


def test_a_clicked_name_stands_among_names(page):
    clicked(page, "Anna", 1)  # the question “Last of all ___ went” alone asks for other words than names
    assert {"Anna", "Greta", "Ilse"} <= set(chips(page))


def test_the_keyboard_stays_at_the_hidden_sentence(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    clicked(page, "Tamsin", 1)
    expect(page.locator("#words .gone")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.locator("#words del").count() == 0
    expect(page.locator("#words button", has_text="Hugo").nth(1)).to_be_focused()


# ---- own texts, errors, tokens, links ----


def test_your_own_text_opens_an_empty_editor_with_an_example(page):
    page.get_by_role("button", name="Your own text").click()
    assert page.locator("#text").input_value() == page.locator("#query").input_value() == ""
    assert "for example" in page.locator("#text").get_attribute("placeholder")
    assert page.evaluate("document.activeElement.id") == "text"
    assert chips(page) == answers(page) == []
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("#error")).to_contain_text("write or paste one")
    page.locator("#text").fill(HUGO)
    assert page.locator("#error").inner_text() == ""
    page.get_by_role("button", name="Undo").click()
    assert page.locator("#words").text_content().startswith("Once upon a time")


def test_a_wrong_question_is_told_until_it_is_changed(page):
    for query, message in {"There is no gap.": "no placeholder", "___ and ___ ran.": "2 placeholders"}.items():
        page.locator("#query").fill(query)
        assert answers(page) == []  # they answered the question before
        assert page.locator("#error").inner_text() == ""
        page.get_by_role("button", name="Answer", exact=True).click()
        expect(page.locator("#error")).to_contain_text(message)


def test_a_document_without_candidates_is_told(opened):
    page = opened(d=HUGO, q="___ ran.", c=["Zoë", "Kim"])
    expect(page.locator("#error")).to_contain_text("no candidate occurs in the document")
    assert answers(page) == []


def test_a_lost_service_is_told_with_what_to_do(page):
    page.route("**/answer", lambda route: route.abort())
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(page.locator("#error")).to_contain_text("gareader serve")
    expect(page.locator("#error")).to_contain_text("your text is still here")
    page.unroute_all()
    asked(page)
    assert page.locator("#error").inner_text() == ""


def test_the_token_is_asked_for_once_in_a_session(tab):
    with served(models(), limits=LIMITS, token="secret") as place:  # noqa: S106
        questions = []

        def tell(dialog):
            questions.append(dialog.message)
            dialog.accept("wrong" if len(questions) == 1 else "secret")

        tab.on("dialog", tell)
        for _ in range(2):
            tab.goto(place)
            tab.wait_for_selector("#answers li")
        assert questions == ["This service asks for its token:", "That token is not the service’s. Its token:"]
        tab.remove_listener("dialog", tell)
        tab.goto("about:blank")


def test_a_link_restores_the_whole_question(opened, quiet, address):
    page = opened(d=HUGO, q="The door was opened by ___.")
    page.locator("#model").select_option("stories-one-hop")
    clicked(page, "Hugo", 1)
    page.locator("#new").fill("the cat")
    page.get_by_role("button", name="Add").click()
    asked(page)
    page.locator("#link").focus()
    link, expected = page.locator("#link").get_attribute("href"), answers(page)
    kept = ("#query", "#model"), ("#words", "#words del", "#verdict", "#chips")
    before = (
        [page.locator(each).input_value() for each in kept[0]],
        [page.locator(each).text_content() for each in kept[1]],
    )
    page.goto("about:blank")
    with quiet.expect_request("**/answer") as request:
        page.goto(address + link)
    page.wait_for_selector("#answers li")
    assert answers(page) == expected
    assert before == (
        [page.locator(each).input_value() for each in kept[0]],
        [page.locator(each).text_content() for each in kept[1]],
    )
    assert "#" not in request.value.url
    assert not request.value.headers.get("referer")


def test_a_link_to_a_model_that_is_not_here_says_so(opened):
    page = opened(d=HUGO, q="The door was opened by ___.", m="elsewhere")
    expect(page.locator("#note")).to_contain_text("no model “elsewhere”, which the link names; stories has answered")
    page.locator("#model").select_option("stories-one-hop")
    asked(page)
    expect(page.locator("#note")).not_to_contain_text("elsewhere")


def test_a_link_keeps_its_model_until_the_models_are_known(quiet, address):
    quiet.route("**/models", lambda route: route.abort())
    quiet.goto("about:blank")
    quiet.goto(address + linked(d=HUGO, q="The door was opened by ___.", m="stories-one-hop"))
    expect(quiet.locator("#error")).to_contain_text("does not answer")
    quiet.unroute("**/models")
    with quiet.expect_request("**/answer") as request:
        quiet.get_by_role("button", name="Answer", exact=True).click()
    assert request.value.post_data_json["model"] == "stories-one-hop"
    quiet.wait_for_selector("#answers li")


def test_the_link_holds_what_has_just_been_written(page):
    page.locator("#query").fill("At last ___ came home.")
    page.locator("#new").fill("the mill")
    page.get_by_role("button", name="Add").click()
    with page.expect_response("**/answer"):
        page.get_by_role("link", name="Link to this question").click()
    assert page.locator("#query").input_value() == "At last ___ came home."
    assert "the mill" in chips(page)


def test_an_answer_that_comes_late_does_not_take_the_place_of_a_newer_one(page):
    held: list[Route] = []
    page.route("**/answer", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/answer"):
        page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_role("button", name="E-mail").click()
    expect(page.locator("#answers li span").first).to_have_text("Sofia")
    with page.expect_event("requestfinished", lambda request: request.url.endswith("/answer")):
        held[0].continue_()
    page.wait_for_timeout(200)
    assert answers(page)[0] == "Sofia"


# ---- attention ----


def test_hops_colour_the_text_each_to_its_own_maximum(page):
    seen = [coloured(page)]
    for button in hops(page):
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        seen.append(coloured(page))
        assert re.match(r"\d[\d.]* %, the largest share for the question’s words", page.locator("#most").inner_text())
        assert "spreads 100 % over the question" in page.locator("#how").inner_text()
    assert len(seen) > 1
    assert all(max(map(float, colours)) == 1 for colours in seen)
    assert len({tuple(colours) for colours in seen}) == len(seen)
    page.get_by_role("button", name="Final").click()
    assert coloured(page) == seen[0]


def test_the_number_of_a_word_for_pointer_keyboard_and_screen_reader(page):
    final = page.evaluate("state.seen.final")
    place = final.index(max(final))
    word = page.locator("#words button").nth(place)
    share = page.locator("#most").inner_text().split(",")[0]
    word.hover()
    assert page.locator("#tip").inner_text() == share
    page.locator("#query").hover()
    assert page.locator("#tip").is_hidden()
    word.focus()
    assert page.locator("#tip").inner_text() == share
    assert word.get_attribute("aria-label") == f"{word.inner_text()}, {share}"


def test_pointing_at_a_word_shows_what_it_goes_with(page):
    before = coloured(page, "#query-words")
    page.locator("#words button").nth(20).hover()
    assert coloured(page, "#query-words") != before
    assert re.search(r"goes with .* \(\d.* %\), .* in hop 1\.", page.locator("#hint").inner_text())
    story = coloured(page)
    page.locator("#query-words button").nth(3).hover()
    assert coloured(page) != story
    assert "Which words of the text go with “never” in hop 1" in page.locator("#hint").inner_text()


def test_a_share_is_100_percent_only_if_it_is_all(page):
    shares = [0, 0.0001, 0.0041, 0.5, 0.9964, 0.9996, 1]
    assert page.evaluate("all => all.map(percent)", shares) == [
        "0 %",
        "under 0.1 %",
        "0.4 %",
        "50 %",
        "99.6 %",
        "over 99.9 %",
        "100 %",
    ]


def test_the_marks_are_explained_and_the_strongest_pairs_listed(page):
    assert page.locator("#query-words").inner_text() == "⊢ The wolves never forgot that ___ had given them her bread. ⊣"
    assert "mark where the question begins and ends" in page.locator("#marks").inner_text()
    marks = page.locator("#query-words button", has_text=re.compile("[⊢⊣]"))
    assert [mark.get_attribute("aria-label") for mark in marks.all()] == [
        "beginning of the question",
        "end of the question",
    ]
    page.get_by_role("button", name="Hop 1").click()
    page.get_by_role("button", name="Show the strongest pairs").click()
    rows = [row.inner_text().split("\t") for row in page.locator("#pair-table tbody tr").all()]
    shares = [float(row[2].removesuffix(" %")) for row in rows]
    assert len(rows) == 15
    assert shares == sorted(shares, reverse=True)
    seen = page.evaluate("state.seen")
    strongest = max(
        (share, document, query)
        for document, row in zip(seen["document"], seen["hops"][0], strict=True)
        for query, share in zip(seen["query"][1:-1], row[1:-1], strict=True)
    )
    assert rows[0][:2] == list(strongest[1:])


# ---- texts to begin with, files, the list, long texts ----


def test_the_gallery(page):
    kinds = {
        "News": "Paul Brandt",
        "Biography": "Thomas Ward",
        "E-mail": "Sofia",
        "Science": "poplars",
        "Fairy": "Anna",
    }
    for kind, answer in kinds.items():
        with page.expect_response("**/answer"):
            page.get_by_role("button", name=re.compile(f"^{kind}")).click()
        expect(page.locator("main.waiting")).to_have_count(0)
        assert answers(page)[0] == answer


def test_a_file_is_read_in_its_encoding(page, tmp_path):
    for encoding in ("utf-8", "cp1252"):
        (tmp_path / "story.txt").write_bytes(HUGO.replace("Hugo", "Zoë").encode(encoding))
        with page.expect_response("**/candidates"):
            page.locator("#file").set_input_files(tmp_path / "story.txt")
        expect(page.locator("#chips")).to_contain_text("Zoë")
        assert page.locator("#words").text_content() == HUGO.replace("Hugo", "Zoë")
        assert page.locator("#query").input_value() == ""
    (tmp_path / "story.doc").write_bytes(b"PK\0\1")
    page.locator("#file").set_input_files(tmp_path / "story.doc")
    expect(page.locator("#error")).to_contain_text("no plain text")


def test_answers_are_listed_shown_again_and_saved(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    first = answers(page)
    page.locator("#query").fill("The key was a gift of old ___.")
    asked(page)
    asked(page)  # the same question is listed once
    clicked(page, "Hugo", 1)
    assert page.locator("#asked li").count() == 3
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON lines").click()
    assert download.value.suggested_filename == "answers.jsonl"
    lines = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert [line["query"] for line in lines] == [
        "The door was opened by ___.",
        "The key was a gift of old ___.",
        "___ thanked Tamsin and opened the door.",
    ]
    assert lines[0]["document"] == HUGO
    assert lines[0]["best"] == lines[0]["ranking"][0]["answer"] == first[0]
    assert "thanked" not in lines[2]["document"]
    assert lines[2]["expected"] == "Hugo"
    assert "attention" not in lines[0]
    page.get_by_role("button", name="The door was opened by ___.").click()
    assert answers(page) == first
    page.get_by_role("button", name="Clear the list").click()
    assert page.locator("#asked-box").is_hidden()


def long_text(words):
    """Chapters about nobody, and in the middle the one about the door."""
    filler = "The rain fell on the roofs of the town, and nobody went out into the wet streets. "
    paragraphs = [filler * 10] * (words // 160)
    paragraphs.insert(len(paragraphs) // 2, HUGO)
    return "\n\n".join(paragraphs)


def test_a_text_of_fifty_thousand_words_is_drawn_and_read_in_parts(page):
    text = long_text(50_000)
    page.locator("#edit").click()
    page.locator("#text").fill(text)
    page.locator("#query").fill("The door was opened by ___.")
    asked(page)
    expect(page.locator("#note")).to_contain_text("longer than this service reads at once")
    assert {"Hugo", "Tamsin"} <= {answer.removeprefix("Old ") for answer in answers(page)}
    assert page.locator("#words button").count() < 1000
    assert "Hugo thanked Tamsin" in page.locator("#words").text_content()  # the part with the most attention
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON lines").click()
    saved = json.loads(download.value.path().read_text("utf-8").splitlines()[-1])["document"]
    assert HUGO in saved  # what was read, not the whole text
    assert len(saved.split()) < 2000
    drawn = page.locator("#parts").inner_text()
    page.get_by_role("button", name="Previous").click()
    assert page.locator("#parts").inner_text() != drawn
    page.locator("#edit").click()
    assert page.evaluate(CHANGES_WHILE_TYPING) == 0


CHANGES_WHILE_TYPING = """async () => {
    let changes = 0;
    const watcher = new MutationObserver((all) => { changes += all.length; });
    forgetAnswer();
    watcher.observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true });
    for (let times = 0; times < 5; times++) {
        document.execCommand("insertText", false, "x");
        await new Promise((done) => setTimeout(done));
    }
    watcher.disconnect();
    return changes;
}"""


def test_attention_that_is_too_large_is_shown_for_the_nearest_parts(opened):
    page = opened(d=long_text(2_400), q="The door was opened by ___.")
    expect(page.locator("#note")).to_contain_text("The answer is from the whole text")
    assert "Hugo" in answers(page)
    assert any(float(share or 0) == 1 for share in coloured(page))


def test_every_model_of_the_service_can_be_chosen(page):
    assert page.locator("#model option").all_inner_texts() == ["stories", "stories-one-hop"]
    page.locator("#model").select_option("stories-one-hop")
    assert answers(page) == []
    with page.expect_response("**/answer") as response:
        page.get_by_role("button", name="Answer", exact=True).click()
    assert response.value.json()["model"] == "stories-one-hop"


def test_what_is_known_about_a_model_is_told(quiet, address):
    known = [
        {"name": "stories", "about": "tales", "measured": {"accuracy": 0.6634, "examples": 2015}},
        {"name": "stories-one-hop", "about": "other tales", "measured": {"accuracy": "much"}},
    ]
    quiet.route("**/models", lambda route: route.fulfill(json=known))
    quiet.goto(address)
    quiet.wait_for_selector("#answers li")
    assert quiet.locator("#about").inner_text() == "tales; 66.3 % of 2,015 test questions right"
    quiet.locator("#model").select_option("stories-one-hop")
    assert quiet.locator("#about").inner_text() == "other tales"


# ---- how it looks, and for whom ----


SHAPES = [(width, scheme) for width in (375, 1280) for scheme in ("light", "dark")]


def test_widths_and_colours(page):
    page.get_by_role("button", name="Hop 1").click()
    page.locator("#pairs").click()
    for width, scheme in SHAPES:
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        style = page.evaluate(
            "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
        ink, paper = (sum(map(int, colour.strip("rgb()").split(","))) for colour in style)
        assert (ink < paper) == (scheme == "light")


@pytest.mark.skipif(not AXE.exists(), reason=f"needs {AXE}: npm install --prefix build axe-core")
def test_no_serious_problem_of_accessibility(opened):
    page = opened(d=HUGO, q="The door was opened by ___.")
    page.evaluate(AXE.read_text("utf-8"))

    def problems(width, scheme):
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        return [
            (each["id"], each["nodes"][0]["html"], each["nodes"][0]["failureSummary"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    clicked(page, "Hugo", 1)
    page.get_by_role("button", name="Hop 1").click()
    page.locator("#pairs").click()
    page.locator("#words button", has_text="cat").click()  # an error, and the number of the word
    assert page.locator("#tip").is_visible()
    assert {shape: problems(*shape) for shape in SHAPES} == {shape: [] for shape in SHAPES}
    page.get_by_role("button", name="Your own text").click()
    assert problems(375, "light") == problems(1280, "dark") == []
    page.goto(f"{page.url.partition('#')[0]}docs")
    page.wait_for_selector("#operations table")
    page.evaluate(AXE.read_text("utf-8"))
    assert problems(375, "light") == problems(1280, "dark") == []


def test_the_keyboard_alone(page):
    page.locator("#words button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "a"
    page.locator("#query").focus()
    with page.expect_response("**/answer"):
        page.keyboard.press("Enter")
    expect(page.locator("main.waiting")).to_have_count(0)
    page.locator("#edit").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Hop 1"
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="Hop 1").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.textContent") == "Hop 1"


WRITTEN = (
    "“Don’t go,” said Ann’s son (the old one) — but he did… Mr. O’Hara, etc. \"Why?\" asked 'Ben'.\n\n"
    "Ann met the constructor [of {old} bridges]. It cost £5, i.e. ½ of Ben's pay. Ben couldn't pay Ann."
)


def test_words_are_shown_as_they_were_written(opened):
    page = opened(d=WRITTEN, q="“I can’t (yet),” said ___’s son.", c=["Ann", "Ben", "Mr. O’Hara", "Ann's son"])
    assert page.locator("#words").text_content() == WRITTEN
    assert page.locator("#query-words").text_content() == "⊢ “I can’t (yet),” said ___’s son. ⊣"
    assert set(answers(page)) == {"Ann", "Ben", "Mr. O’Hara", "Ann’s son"}
    page.locator("#pairs").click()
    everything = page.locator("body").inner_text()
    assert not re.search(r"``|''|-[LR][RSC]B-|@placeholder|n 't", everything)
    tokens = page.locator("#words button").all_inner_texts()
    assert {"Do", "n’t", "“", "Mr.", "O’Hara", "(", "…", "—", "could", "n't"} <= set(tokens)


def test_an_opening_mark_stays_with_its_word_and_a_long_row_of_signs_does_not_widen_the_page(page):
    page.set_viewport_size({"width": 375, "height": 740})
    words = " ".join(f"{'x' * (n % 9 + 1)} “Nell” (said) ‘it’." for n in range(60))
    write_text(page, f"{words} {'.' * 300} {'long' * 50}")
    tops = page.locator("#words button").evaluate_all("all => all.map(each => [each.textContent, each.offsetTop])")
    opening = [(before, after) for before, after in pairwise(tops) if before[0] in "“‘("]
    assert len(opening) == 180
    assert all(before[1] == after[1] for before, after in opening)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_word_under_the_pointer_is_forgotten_with_its_text(page):
    page.locator("#words button").last.hover()
    short = {"d": "Ann met Ben.", "q": "___ met Ben.", "c": ["Ann", "Ben"]}
    with page.expect_response("**/answer"):
        page.evaluate("kept => { location.hash = encodeURIComponent(JSON.stringify(kept)); }", short)
    expect(page.locator("#answers li")).to_have_count(2)
    expect(page.locator("#hint")).to_have_text("")


def test_the_page_for_programs(quiet, address):
    quiet.goto(address + "docs")
    quiet.wait_for_selector("text=POST /answer")
    assert "curl" in quiet.locator("#curl").inner_text()
    quiet.set_viewport_size({"width": 375, "height": 740})
    assert quiet.evaluate("document.documentElement.scrollWidth") <= 375


def test_an_answer_that_is_more_probably_wrong_than_right_is_told(page):
    def unsure(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "unsure": True, "remark": "the text is short"})

    page.route("**/answer", unsure)
    asked(page)
    expect(page.locator("#note")).to_contain_text("Not sure: the first answer is more probably wrong than right.")
    expect(page.locator("#note")).to_contain_text("The text is short.")
    page.unroute_all()
    page.route("**/answer", lambda route: route.fulfill(json={**route.fetch().json(), "unsure": False}))
    asked(page)
    expect(page.locator("#note")).not_to_contain_text("Not sure")
    page.unroute_all()
