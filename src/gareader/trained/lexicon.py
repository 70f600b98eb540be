"""The words of a model: vocabulary, alphabet and word table, in a folder that models may share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import save_file

from gareader.core.errors import ModelError
from gareader.core.whole import whole_folder
from gareader.data.arrays import TABLE
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.trained.folder import ALPHABET, VOCABULARY, WORD_TABLE, digest
from gareader.trained.packing import PackedTable, check_finite, mapped, pack, table_of

StoredTable = PackedTable | NDArray[Any]
"""(words, width); its rows are in single precision."""

_LOCK = Lock()


@dataclass(frozen=True)
class Lexicon:
    """The words that have a vector, and the letters."""

    vocabulary: Vocabulary
    alphabet: Alphabet
    table: StoredTable

    def write(self, folder: Path) -> None:
        """Write a folder for several models, with the table in 8 bits: reading it gives rounded numbers."""
        with whole_folder(folder) as new:
            self.vocabulary.write(new / VOCABULARY)
            self.alphabet.write(new / ALPHABET)
            save_file(pack({TABLE: self.table[:]}), new / WORD_TABLE)

    @classmethod
    def read(cls, folder: Path) -> "Lexicon":
        """Read what `write` wrote; vocabulary and table are the objects that all models of this process share."""
        files = folder / VOCABULARY, folder / WORD_TABLE
        vocabulary, table = shared_words(*files, tuple(map(digest, files)))
        return cls(vocabulary, Alphabet.read(folder / ALPHABET), table)


def words(vocabulary: Path, table: Path) -> tuple[Vocabulary, StoredTable]:
    """Read a vocabulary, and map the table with a row for each of its words."""
    arrays = mapped(table)
    check_finite(arrays)
    return Vocabulary.read(vocabulary), table_of(arrays)


def shared_words(vocabulary: Path, table: Path, sums: tuple[str, ...]) -> tuple[Vocabulary, StoredTable]:
    """Read the vocabulary and map the table once for all models of this process; `sums` are the files' checksums."""
    with _LOCK:
        return _kept(vocabulary.resolve(), table.resolve(), sums)


@contextmanager
def forgetting_damaged_words() -> Iterator[None]:
    """Forget the shared words if a model is damaged: they may have been read before their checksum was known."""
    try:
        yield
    except ModelError:
        _kept.cache_clear()
        raise


@lru_cache(maxsize=4)
def _kept(vocabulary: Path, table: Path, sums: tuple[str, ...]) -> tuple[Vocabulary, StoredTable]:  # noqa: ARG001
    return words(vocabulary, table)
