"""What is written in a format is what is read from it."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpora.writers import write
from gareader.data.corpora import CORPORA, cbt, question_files, read, recognise
from gareader.data.examples import PLACEHOLDER, Example

# neither lone surrogates nor control characters, which XML has no way to write
signs = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
plain_words = (
    st.text(signs, min_size=1, max_size=6)
    .map(lambda text: normalize("NFC", text))
    .filter(lambda word: word.split() == [word] and word not in ("XXXXX", PLACEHOLDER) and set(word) != {"_"})
)
entities = st.integers(0, 99).map(lambda number: f"@entity{number}")
phrases = st.lists(plain_words.filter(lambda word: "|" not in word), min_size=1, max_size=3).map(tuple)
candidates = st.one_of(phrases, st.just(("|",)), entities.map(lambda mark: (mark,)))


@st.composite
def questions(draw: st.DrawFn) -> Example:
    """Any question that every format can hold."""
    given_candidates = tuple(draw(st.lists(candidates, min_size=2, max_size=6)))
    answer = draw(st.none() | st.sampled_from(given_candidates))
    query = draw(st.lists(plain_words, min_size=1, max_size=8))
    query.insert(draw(st.integers(0, len(query))), PLACEHOLDER)
    return Example(
        id="",
        document=tuple(draw(st.lists(plain_words, min_size=1, max_size=30))),
        query=tuple(query),
        candidates=given_candidates,
        answer=None if answer is None else given_candidates.index(answer),
    )


@pytest.mark.parametrize("format", CORPORA)
@given(examples=st.lists(questions(), min_size=1, max_size=4))
def test_write_then_read(format: str, examples: list[Example]) -> None:
    examples = [replace(example, id=f"q{number}") for number, example in enumerate(examples)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any"
        write(format, examples, path)
        assert recognise(path) == format
        again = list(read(path))
    assert len({example.id for example in again}) == len(examples)
    if format == "cbt":  # which has no ids
        again = [replace(example, id=f"q{number}") for number, example in enumerate(again)]
    assert again == examples


@given(questions(), st.lists(st.integers(0, 30), max_size=4))
def test_sentences_of_a_document_make_no_difference(example: Example, cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(example.document)]
    sentences = [" ".join(example.document[start:end]) for start, end in pairwise(ends)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.txt"
        path.write_text(cbt.written(example, sentences), encoding="utf-8")
        (again,) = read(path, format="cbt")
    assert replace(again, id=example.id) == example


@given(questions(), plain_words)
def test_names_and_source_of_a_question_file_make_no_difference(example: Example, word: str) -> None:
    marks = tuple((f"@entity{number}",) for number in range(len(example.candidates)))
    example = replace(example, id="q", candidates=marks)
    with TemporaryDirectory() as folder:
        names = [" ".join([word] * (number + 1)) for number in range(len(marks))]
        text = question_files.written(example, f"http://example.org/{word}", names)
        (Path(folder) / question_files.file_name(example)).write_text(text, encoding="utf-8")
        assert list(read(Path(folder))) == [example]


@given(questions(), st.lists(st.sampled_from(["&lt;b&gt;", "<mc>", '"x"', "]]>", "&nbsp;", "&amp;"]), min_size=1))
def test_signs_of_xml_are_words_like_others(example: Example, signs: list[str]) -> None:
    words = tuple(signs)
    example = Example(" ".join(signs), words, (PLACEHOLDER, *words), (words, *example.candidates), 0)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.xml"
        write("wdw", [example], path)
        assert list(read(path)) == [example]
