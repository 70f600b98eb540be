"""Example, the one door for data: words only, whatever file or text they came from."""

from dataclasses import dataclass

from gareader.errors import ExampleError

PLACEHOLDER = "@placeholder"
"""The blank of the query, however the file or the user wrote it."""


@dataclass(frozen=True, slots=True)
class Example:
    """One cloze question."""

    id: str
    document: tuple[str, ...]
    query: tuple[str, ...]
    """Its words, exactly one of them PLACEHOLDER."""
    candidates: tuple[tuple[str, ...], ...]
    """At least two, each of one or more words."""
    answer: int | None
    """Index of the right candidate, if known."""

    def __post_init__(self) -> None:
        if not self.document:
            raise ExampleError("the document is empty; give the text that holds the answer")
        if (blanks := self.query.count(PLACEHOLDER)) != 1:
            raise ExampleError(f"the query has {blanks or 'no'} placeholder{'s' * (blanks > 1)}; mark one blank, and only one")
        if len(self.candidates) < 2:
            raise ExampleError(f"{len(self.candidates) or 'no'} candidate answer; give at least two")
        if not all(self.candidates):
            raise ExampleError("a candidate answer is empty; remove it or give its words")
        if self.answer is not None and not 0 <= self.answer < len(self.candidates):
            raise ExampleError(f"answer {self.answer} is not an index into {len(self.candidates)} candidates")
