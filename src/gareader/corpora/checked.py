"""The one place where words from a file become an Example, so that every complaint carries its place."""

from pathlib import Path

from gareader.errors import CorpusError, ExampleError
from gareader.examples import Example

Words = tuple[str, ...]


def checked(
    path: Path,
    line: int,
    id: str,
    document: Words,
    query: Words,
    candidates: tuple[Words, ...],
    answer: Words | None,
    answer_line: int | None = None,
) -> Example:
    """The example these words make, its answer the first equal candidate; else a CorpusError for this line."""
    try:
        index = candidates.index(answer) if answer is not None else None
        return Example(id, document, query, candidates, index)
    except ValueError:
        shown = ", ".join(" ".join(candidate) for candidate in candidates)
        problem = (
            f"the answer {' '.join(answer or ())!r} is not among the candidates: {shown}; spelling and capitals count"
        )
        raise CorpusError(problem, path, answer_line or line) from None
    except ExampleError as error:
        raise CorpusError(str(error), path, line) from None
