"""The card of a model: Markdown below a header that hubs of models read."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from gareader.core.terminal import shown

FENCE = "---\n"
"""Stands before and behind the header of a card."""


@dataclass(frozen=True)
class Facts:
    """What the header says that a model's files do not."""

    name: str
    license: str | None = None
    datasets: Sequence[str] = ()
    """The training corpora, by their names on the hub."""


def card(facts: Facts, settings: Mapping[str, Any], text: str | None = None) -> str:
    """The card of the model with this `reader.json`; a text of one's own follows the header, or has one already."""
    if text is not None and text.startswith(FENCE):
        return text
    notes = settings.get("notes", {})
    body = text or "\n\n".join(_paragraphs(facts.name, settings.get("reader", "ensemble"), notes)) + "\n"
    return f"{FENCE}{''.join(_header(facts, settings, notes))}{FENCE}\n{body}"


def without_header(text: str) -> str:
    return text.removeprefix(FENCE).partition(f"\n{FENCE}")[2].lstrip("\n") if text.startswith(FENCE) else text


def without_local_links(text: str) -> str:
    """The text of a card without pictures and links to files that do not go with the model."""
    return re.sub(r"\[([^\]]+)\]\((?!\w+:|#)[^)]*\)", r"\1", re.sub(r"!\[[^\]]*\]\((?!\w+:)[^)]*\)\n*", "", text))


def _header(facts: Facts, settings: Mapping[str, Any], notes: Mapping[str, Any]) -> Iterator[str]:
    """The lines of YAML; strings are written as in JSON, which YAML includes."""
    yield "library_name: gareader\n"
    if facts.license:
        yield f"license: {_quoted(facts.license)}\n"
    yield "language:\n- en\n"
    kind = settings.get("reader", "ensemble")
    yield "tags:\n" + "".join(f"- {_quoted(tag)}\n" for tag in ("gareader", kind, "cloze", "reading-comprehension"))
    if facts.datasets:
        yield "datasets:\n" + "".join(f"- {_quoted(dataset)}\n" for dataset in facts.datasets)
    yield "metrics:\n- accuracy\n"
    if measured := accuracy(notes):
        corpus, share = measured
        yield f"model-index:\n- name: {_quoted(facts.name)}\n  results:\n"
        yield "  - task:\n      type: question-answering\n      name: Cloze questions\n"
        yield f"    dataset:\n      type: {_quoted(corpus)}\n      name: {_quoted(corpus)}\n"
        yield f"    metrics:\n    - type: accuracy\n      value: {share}\n      name: Accuracy\n"


def _paragraphs(name: str, reader: object, notes: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {name}"
    if isinstance(about := notes.get("about"), str) and about:
        yield f"What it reads: {about}."
    yield f"A trained reader ({reader}) of gareader, for cloze questions about a text."
    if measured := accuracy(notes):
        yield f"**Accuracy: {measured[1]:.1%}** of the questions of {measured[0]}."
    yield '```python\nimport gareader\n\nmodel = gareader.load("ADDRESS")\n```'


def accuracy(notes: Mapping[str, Any]) -> tuple[str, float] | None:
    """The name of the corpus that the model was measured on, and its accuracy: a share."""
    measured = notes.get("measured")
    if not isinstance(measured, dict):
        return None
    corpus, share = measured.get("corpus"), measured.get("accuracy")
    if isinstance(corpus, str) and isinstance(share, int | float) and isfinite(share):
        return corpus, float(share)
    return None


def _quoted(text: object) -> str:
    return shown(json.dumps(str(text), ensure_ascii=False))
