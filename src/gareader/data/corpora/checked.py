"""Words from a file become an Example here alone, so that every error names its file and line."""

from pathlib import Path

from gareader.core.errors import CorpusError, ExampleError
from gareader.data.examples import Example, Words


def checked_example(
    path: Path,
    line: int,
    id: str,
    document: Words,
    query: Words,
    candidates: tuple[Words, ...],
    answer: Words | None,
    answer_line: int | None = None,
) -> Example:
    """Make an example; its answer is the first equal candidate. Raise CorpusError for this line if that fails."""
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
