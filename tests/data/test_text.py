"""Text to words: what tokenised text, raw text and queries come out as."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.core.errors import ExampleError, QuestionError
from gareader.core.files import opened
from gareader.data.examples import PLACEHOLDER
from gareader.data.text import mark_blank, paragraphs, query_words, question, tokenise, words


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Otto  the otter .\n", ["Otto", "the", "otter", "."]),
        ("five\u00a0o'clock\u2009tea\u3000time\t!", ["five", "o'clock", "tea", "time", "!"]),
        ("cafe\u0301 .", ["caf\u00e9", "."]),
        ("", []),
        (" \u00a0 ", []),
    ],
)
def test_words_of_tokenised_text(line: str, expected: list[str]) -> None:
    assert list(words(line)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He didn't see Mr. Brown.", "He did n't see Mr. Brown ."),
        ("He left. She can't go.", "He left . She ca n't go ."),
        ('"Well," said she. "I won\'t!"', "`` Well , '' said she . `` I wo n't ! ''"),
        ("“Stop.” He ran. “Go.”", "`` Stop . '' He ran . `` Go . ''"),
        ("‘Stop,’ said he. ‘It’s late.’", "` Stop , ' said he . ` It 's late . '"),
        ("'Stop,' said he. 'It's late.'", "` Stop , ' said he . ` It 's late . '"),
        ("“‘Go’ is what I said”", "`` ` Go ' is what I said ''"),
        ("the boys' hats and the boy’s hat", "the boys ' hats and the boy 's hat"),
        ("'Tis late; ’twas early. Catch ’em! Catch 'em!", "'T is late ; 't was early . Catch 'em ! Catch 'em !"),
        ("it rose (the one [with] glass)", "it rose -LRB- the one -LSB- with -RSB- glass -RRB-"),
        ("wait—no – go … now", "wait -- no -- go ... now"),
        ("Dr. Gray and E. Nesbit, the U.S. and St. Ives", "Dr. Gray and E. Nesbit , the U.S. and St. Ives"),
        ("He went to the U.S.", "He went to the U.S."),
        ("Mr.", "Mr."),
        ("It cost $3,000.50 at 8:30, or 5%.", "It cost $ 3,000.50 at 8:30 , or 5 % ."),
        ("@entity5's hat (@entity12), “@entity7”.", "@entity5 's hat -LRB- @entity12 -RRB- , `` @entity7 '' ."),
        ("'@entity5,' said @entity6.", "` @entity5 , ' said @entity6 ."),
        ("cafe\u0301\u00a0noir", "caf\u00e9 noir"),
        ("I cannot go.", "I can not go ."),
        ("_'Go!'_ was _all_ he said.", "` Go ! ' was all he said ."),
        ("'I know Emily.' 'Emily!' ‘I know.’", "` I know Emily . ' ` Emily ! ' ` I know . '"),
        ("‘Tis so. ‘Emma’ saw ‘em 'til '49 or 'twasn't", "'T is so . ` Emma ' saw 'em 'til '49 or 't was n't"),
        ('"--and so—" "(no)" \'"@entity5"\'', "`` -- and so -- '' `` -LRB- no -RRB- '' ` `` @entity5 '' '"),
        ("He said:\"Go!\"—and «Non» ('Go')", "He said : `` Go ! '' -- and `` Non '' -LRB- ` Go ' -RRB-"),
        ("Dell'Osso, Al-Qa’ida, ma'am, they'll", "Dell'Osso , Al-Qa'ida , ma'am , they 'll"),
        ("No!Not he?So anti-U.S. men from AT&T", "No ! Not he ? So anti-U.S. men from AT&T"),
        ("anti-@entity5—@entity6, me@example.org", "anti - @entity5 -- @entity6 , me @ example.org"),
        ("It is Smith Jr.", "It is Smith Jr."),
        ("in the U.S. The end, etc.\nat 5 p.m. sharp", "in the U.S. . The end , etc. at 5 p.m. sharp"),
        ("", ""),
    ],
)
def test_raw_text_is_tokenised_as_the_treebank_does(text: str, expected: str) -> None:
    assert " ".join(tokenise(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a." * 100_000 + "ab", "a." * 100_000 + "ab"),
        ("a" + "\u0301\u0316" * 100_000, "\u00e1" + "\u0316" * 100_000 + "\u0301" * 99_999),
        ("\u0f73" * 100_000, "\u0f71" * 100_000 + "\u0f72" * 100_000),
    ],
    ids=["letters with periods", "accents", "accents made of two"],
)
def test_a_word_as_long_as_a_book_is_soon_read(text: str, expected: str) -> None:
    assert tokenise(text) == (expected,)


@given(st.text("\u0301\u0308\u0316\u0345\u0344\u0f73\u2550", min_size=30))
def test_rows_of_accents_are_composed_as_unicode_says(row: str) -> None:
    assert "".join(tokenise(f"a{row}e")) == normalize("NFC", f"a{row}e")


def test_accents_are_letters_of_their_word() -> None:
    assert tokenise("x\u0304y, हिन्दी") == ("x\u0304y", ",", "हिन्दी")


def test_tokenised_text_comes_out_as_it_was() -> None:
    text = "`` I ca n't swim , '' said Mr. Gray 's aunt -LRB- the old one -RRB- . ` Go ! ' cried Tess . 'T is so ."
    assert tokenise(text) == words(text)


def test_nearly_every_sentence_of_the_corpus_comes_out_as_it_was(cbt_books) -> None:
    with opened(cbt_books.path) as content:
        lines = content.read().decode().splitlines()
    sentences = [line for line in lines if not line.startswith("_BOOK_TITLE_")][:3000]
    assert len(sentences) == (3000 if cbt_books.whole else 85)
    assert sum(tokenise(sentence) != words(sentence) for sentence in sentences) <= len(sentences) // 1000


@given(st.text())
def test_tokens_are_words(text: str) -> None:
    assert all(token.split() == [token] for token in tokenise(text))


@pytest.mark.parametrize("blank", ["XXXXX", "___", "_______", "@placeholder"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{}'s dog barked.", "@placeholder 's dog barked ."),
        ("It was {}.", "It was @placeholder ."),
        ("“{}!” he cried", "`` @placeholder ! '' he cried"),
        ("\"{}\" ({}), '{}'", "`` @placeholder '' -LRB- @placeholder -RRB- , ` @placeholder '"),
        ("the {}-haired, half-{}", "the @placeholder - haired , half - @placeholder"),
        ("no blank", "no blank"),
    ],
)
def test_the_blank_of_a_query(blank: str, query: str, expected: str) -> None:
    assert " ".join(query_words(query.replace("{}", blank))) == expected


@pytest.mark.parametrize("query", ["XXXX", "XXXXXX", "__", "a___b", "@placeholders", "xxxxx"])
def test_what_is_no_blank(query: str) -> None:
    assert PLACEHOLDER not in query_words(query)


def test_the_blank_among_tokens() -> None:
    assert mark_blank(["XXXXX", "____", "@placeholder", "XXXXX's", "__"]) == (*[PLACEHOLDER] * 3, "XXXXX's", "__")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("[MASK] has the lamp.", "@placeholder has the lamp ."),
        ("It was <mask>.", "It was @placeholder ."),
        ("He lived in ... with his dog.", "He lived in @placeholder with his dog ."),
        ("He lived in…", "He lived in @placeholder"),
        ("___ lived in a wood...", "@placeholder lived in a wood ..."),
        ("So ... he lived ...", "So ... he lived ..."),
        ("He lived in .... ", "He lived in ..."),
    ],
)
def test_other_blanks(query: str, expected: str) -> None:
    assert " ".join(query_words(query)) == expected
    if "." * 4 not in query:
        assert mark_blank(
            tokenise(query.replace("[MASK]", "XXXXX").replace("<mask>", "XXXXX").replace("___", "XXXXX"))
        ) == words(expected)


@pytest.mark.parametrize(
    ("query", "expected", "best"),
    [
        ("Who has the lamp?", "@placeholder has the lamp .", ("Ann", "Ben")),
        ("Ben has the ___?", "Ben has the @placeholder ?", ("lamp", "drum")),
        ("[MASK] has the lamp.", "@placeholder has the lamp .", ("Ann", "Ben")),
    ],
)
def test_questions_and_sentences_with_a_blank_are_asked_alike(query: str, expected: str, best: tuple[str, ...]) -> None:
    asked = question("Ann has the lamp. Ben has the drum.", query)
    assert asked.query == words(expected)
    assert asked.candidates == tuple((name,) for name in best)
    given = question("Ann has the lamp. Ben has the drum.", query, ["Ann", "the drum"])
    assert (given.query, given.candidates) == (asked.query, (("Ann",), ("the", "drum")))


def test_the_tagger_is_not_loaded_where_candidates_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("this was needless work")

    monkeypatch.setattr("gareader.data.language.candidates.tagger", never)
    monkeypatch.setattr("gareader.data.language.questions.tagger", never)
    assert question("Ann has the lamp.", "___ has the lamp.", ["Ann", "Ben"]).candidates == (("Ann",), ("Ben",))


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("Ann has the lamp.", "the query has no placeholder; mark one blank, and only one, with XXXXX"),
        ("___ has ___.", "the query has 2 placeholders"),
        ("So ... he has ...", "the query has no placeholder"),
        (
            "Why has Ann the lamp?",
            "ask who, whose, what, which, where, when or how many, or write a sentence with a blank",
        ),
    ],
)
def test_queries_that_cannot_be_asked(query: str, problem: str) -> None:
    with pytest.raises(ExampleError, match=problem):
        question("Ann has the lamp. Ben has the drum.", query)


def test_a_document_without_candidates() -> None:
    with pytest.raises(QuestionError, match="no two names or nouns to choose from; give the candidates"):
        question("It was so.", "It was ___.")


def test_a_text_is_no_list_of_candidates():
    with pytest.raises(QuestionError, match="candidates = 'Greta' is one text, and its letters are no answers"):
        question("Greta met Hans.", "XXXXX met Hans.", "Greta")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("One.\n\nTwo.\n \n\nThree", ["One .", "Two .", "Three"]),
        ("A long line that was wrapped\nat its end, and goes on.\n\nNext", [
            "A long line that was wrapped at its end , and goes on .", "Next"
        ]),
        ("To: Ann\nFrom: Tom\n\nCome home soon, for we are waiting.", [
            "To : Ann", "From : Tom", "Come home soon , for we are waiting ."
        ]),
        ("One line.", ["One line ."]),
        ("\r\nOne.\r\n\r\nTwo.", ["One .", "Two ."]),
        (" \n ", []),
    ],
)  # fmt: skip
def test_paragraphs(text, lines):
    assert [" ".join(words) for words in paragraphs(text)] == lines
