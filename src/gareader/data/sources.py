"""Examples from any source: a file or folder in a corpus format, or a prepared corpus."""

from collections.abc import Iterable
from pathlib import Path

from gareader.core.files import check_no_pipe
from gareader.data import corpora
from gareader.data.addresses import is_prepared
from gareader.data.corpora.files import Report
from gareader.data.examples import Example

STORIES = Path(__file__).parent / "stories" / "stories.jsonl"
"""The bundled stories with their questions."""


def read_examples(path: Path | str, *, format: str | None = None, on_bad: Report | None = None) -> Iterable[Example]:
    """Return the examples of a prepared corpus, or of a file or folder in any corpus format."""
    check_no_pipe(Path(path))
    if is_prepared(path):
        from gareader.data.store import PreparedCorpus  # it needs pyarrow

        return PreparedCorpus.open(path)
    return corpora.read(path, format=format, on_bad=on_bad)
