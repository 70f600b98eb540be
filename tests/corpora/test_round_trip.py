"""What is written in a format is what is read from it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers import write_cbt, write_jsonl, write_question_files, write_who_did_what

from gareader.corpora import read, recognise
from gareader.examples import PLACEHOLDER, Example

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


@pytest.mark.parametrize(
    ("name", "format", "write", "keeps_ids"),
    [
        ("any.txt", "cbt", write_cbt, False),
        ("folder", "question", write_question_files, True),
        ("any.xml", "wdw", write_who_did_what, True),
        ("any.jsonl", "jsonl", write_jsonl, True),
    ],
)
@given(examples=st.lists(questions(), min_size=1, max_size=4))
def test_write_then_read(
    name: str, format: str, write: Callable[[Sequence[Example], Path], None], keeps_ids: bool, examples: list[Example]
) -> None:
    examples = [replace(example, id=f"q{number}") for number, example in enumerate(examples)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(examples, path)
        assert recognise(path) == format
        again = list(read(path))
    assert len({example.id for example in again}) == len(examples)
    if not keeps_ids:
        again = [replace(example, id=f"q{number}") for number, example in enumerate(again)]
    assert again == examples
