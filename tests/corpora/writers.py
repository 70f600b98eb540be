"""Writers of each format, for the tests that what is written is what is read."""

import json
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from gareader.corpora import read
from gareader.errors import CorpusError
from gareader.examples import PLACEHOLDER, Example


def read_all(path: Path, format: str | None = None) -> tuple[list[Example], list[str]]:
    """The good examples and what was said about the bad things."""
    bad: list[CorpusError] = []
    examples = list(read(path, format=format, on_bad=bad.append))
    return examples, [str(error) for error in bad]


def cbt_block(document: Sequence[str], query: str, answer: str, candidates: Sequence[str]) -> str:
    """The lines of one question, a sentence each."""
    lines = [f"{number} {sentence}" for number, sentence in enumerate(document, 1)]
    return "\n".join([*lines, f"{len(lines) + 1} {query}\t{answer}\t\t{'|'.join(candidates)}\n"])


def write_cbt(examples: Sequence[Example], path: Path) -> None:
    """Sentences of seven words."""
    blocks = []
    for example in examples:
        sentences = [" ".join(example.document[at : at + 7]) for at in range(0, len(example.document), 7)]
        query = " ".join("XXXXX" if word == PLACEHOLDER else word for word in example.query)
        candidates = [" ".join(candidate) for candidate in example.candidates]
        answer = "" if example.answer is None else candidates[example.answer]
        blocks.append(cbt_block(sentences, query, answer, candidates))
    path.write_text("\n".join(blocks), encoding="utf-8")


def write_question_files(examples: Sequence[Example], folder: Path) -> None:
    """A folder of one file each, marks with a real name."""
    folder.mkdir()
    for example in examples:
        candidates = [" ".join(candidate) for candidate in example.candidates]
        named = [f"{name}:Real Name" if name.startswith("@entity") else name for name in candidates]
        answer = "" if example.answer is None else candidates[example.answer]
        parts = [f"http://example.org/{example.id}", " ".join(example.document), " ".join(example.query), answer]
        (folder / f"{example.id}.question").write_text("\n\n".join([*parts, "\n".join(named)]), encoding="utf-8")


def write_who_did_what(examples: Sequence[Example], path: Path) -> None:
    """Choices in backward order, so that their idx counts."""
    elements = []
    for example in examples:
        blank = example.query.index(PLACEHOLDER)
        left, right = (escape(" ".join(part)) for part in (example.query[:blank], example.query[blank + 1 :]))
        choices = [
            f'<choice correct="{str(idx == example.answer).lower()}" idx="{idx}">{escape(" ".join(words))}</choice>'
            for idx, words in reversed(list(enumerate(example.candidates)))
        ]
        elements.append(
            f"<mc id={quoteattr(example.id)}><question><leftcontext>{left}</leftcontext>\n"
            f"<rightcontext>{right}</rightcontext></question>"
            f"<contextart>{escape(' '.join(example.document))}</contextart>{''.join(choices)}</mc>\n"
        )
    path.write_text(f"<ROOT>\n{''.join(elements)}</ROOT>\n", encoding="utf-8")


def write_jsonl(examples: Sequence[Example], path: Path) -> None:
    """All words as lists."""
    lines = [
        json.dumps(
            {
                "id": example.id,
                "document": example.document,
                "query": example.query,
                "candidates": example.candidates,
                "answer": None if example.answer is None else example.candidates[example.answer],
            },
            ensure_ascii=len(example.query) % 2 == 0,
        )
        for example in examples
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
