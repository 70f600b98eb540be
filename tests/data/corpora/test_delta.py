"""Questions as they differ from the one before: a corpus prepared from them holds what reading it gives."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data.corpora.test_cbt import BROKEN, GOOD
from data.corpora.writers import read_all
from gareader.core.errors import CorpusError
from gareader.data import corpora
from gareader.data.examples import Example
from gareader.data.store import prepare_corpus
from places import SAMPLES

HOSTILE = [" ", "  ", "\x0b", "\x1c", "\x85", "\u00a0", "\u2003", "\0", "\x7f", "e\u0301", "\u00e9", "\udcff", "\r"]
pieces = st.sampled_from(["a", "b", "Tess", "XXXXX", "XXXXXX", "@placeholder", "|", *HOSTILE])
line = st.lists(pieces, max_size=8).map("".join)
sentences = st.lists(line, min_size=1, max_size=12)


@st.composite
def questions(draw: st.DrawFn) -> str:
    """CBT's questions over windows of one text, many of them broken."""
    text = draw(sentences)
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text) - 1))
        window = text[start : start + draw(st.integers(0, 6))]
        query = draw(st.sampled_from(["XXXXX ran .", "Tess XXXXX", "XXXXX XXXXX", "@placeholder  x"]) | line)
        candidates = draw(st.sampled_from(["a|b|Tess", "a|b||", "a b|b", "a||b"]) | st.just("|").map("a".join))
        answer = draw(st.sampled_from(["", "a", " a ", "a  b", "Tess", "|"]))
        numbered = [f"{number} {row}" for number, row in enumerate(window, 1)]
        rows += [*numbered, f"{len(window) + 1} {query}\t{answer}\t\t{candidates}", ""]
    return "\n".join(rows)


def prepared(path: Path, format: str | None = None) -> tuple[list[Example], list[str]]:
    """The examples of the corpus that is prepared from the file, and what was said about the bad things."""
    bad: list[CorpusError] = []
    corpus = prepare_corpus(path, path.with_suffix(".arrow"), format=format, on_bad=bad.append)
    return list(corpus), [str(error) for error in bad]


@pytest.mark.parametrize(
    "sentence", ["Tess  ran", " Tess ran", "Tess ran ", "Tess\x1cran", "Tess\u00a0ran", "", "e\u0301 ran"]
)
def test_text_that_is_not_plain_words_and_single_spaces(tmp_path: Path, sentence: str) -> None:
    path = tmp_path / "cbt.txt"
    for rows in ([sentence, "b"], ["b", sentence], ["a", sentence, "b"]):
        window = "".join(f"{number} {row}\n" for number, row in enumerate(rows, 1))
        path.write_text(f"{window}{len(rows) + 1} {sentence} XXXXX\tb\t\ta|b\n\n1 {rows[-1]}\n2 XXXXX\t\t\ta|b\n")
        assert prepared(path, "cbt") == read_all(path, "cbt")


@given(questions())
@example("1 a  b\n2 Tess\x1cran\n3 XXXXX\ta\t\ta|b\n\n1 Tess\x1cran\n2 c\n3 XXXXX\ta\t\ta|b\n")
@example("1 a\n2 XXXXX XXXXX\ta\t\ta|b\n\n1 a\n2 b\n3 XXXXX\ta\t\ta|b\n")  # after a bad question
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_prepared_file_holds_what_reading_it_gives(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cbt.txt"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert prepared(path, "cbt") == read_all(path, "cbt")


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_bad_question_is_told_as_in_reading(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text(GOOD + "\n" + text + "\n" + GOOD, encoding="utf-8", errors="surrogateescape")
    examples, bad = prepared(path)
    assert (examples, bad) == read_all(path)
    assert len(examples) == 2
    assert bad[0].startswith(message.format(path=path))
    with pytest.raises(CorpusError) as raised:
        list(corpora.deltas(path))
    assert [str(raised.value)] == bad


@pytest.mark.parametrize("name", ["cbt.txt", "wdw.xml", "questions.jsonl", "question"])
def test_every_format_is_prepared_as_it_is_read(tmp_path: Path, name: str) -> None:
    corpus = prepare_corpus(SAMPLES / name, tmp_path / "corpus.arrow")
    assert list(corpus) == list(corpora.read(SAMPLES / name))


def test_only_new_sentences_are_told(tmp_path: Path) -> None:
    path = tmp_path / "cbt.txt"
    path.write_text(
        "1 a b\n2 c\n3 XXXXX\ta\t\ta|b\n\n1 c\n2 d e\n3 XXXXX\ta\t\ta|b\n\n1 c\n2 d e\n3 x XXXXX\ta\t\ta|b\n"
    )
    told = [(delta.size, delta.new, delta.document) for delta in corpora.deltas(path)]
    assert told == [(3, 3, "a\nb\nc"), (3, 2, "d\ne"), (3, 0, "")]
