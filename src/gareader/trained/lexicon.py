"""The words of a model: vocabulary, alphabet and word table, in a folder that models may share."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from safetensors.torch import load_file, save_file
from torch import Tensor

from gareader.core.whole import whole_folder
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.embedding import TABLE
from gareader.trained.folder import ALPHABET, VOCABULARY, WORDS, digest
from gareader.trained.packing import pack, unpack

_LOCK = Lock()


@dataclass(frozen=True)
class Lexicon:
    """The words that have a vector, and the letters."""

    vocabulary: Vocabulary
    alphabet: Alphabet
    table: Tensor
    """(words, width), in single precision."""

    def write(self, folder: Path) -> None:
        """Write a folder for several models, with the table in 8 bits: reading it gives rounded numbers."""
        with whole_folder(folder) as new:
            self.vocabulary.write(new / VOCABULARY)
            self.alphabet.write(new / ALPHABET)
            save_file(pack({TABLE: self.table}), new / WORDS)

    @classmethod
    def read(cls, folder: Path) -> "Lexicon":
        """Read what `write` wrote; vocabulary and table are the objects that all models of this process share."""
        vocabulary, table = shared_words(folder / VOCABULARY, folder / WORDS)
        return cls(vocabulary, Alphabet.read(folder / ALPHABET), table)


def words(vocabulary: Path, table: Path) -> tuple[Vocabulary, Tensor]:
    """Read a vocabulary, and the table with a row for each of its words."""
    return Vocabulary.read(vocabulary), unpack(load_file(table))[TABLE]


def shared_words(vocabulary: Path, table: Path) -> tuple[Vocabulary, Tensor]:
    """Read and unpack vocabulary and table once for all models of this process; nobody may change the table."""
    with _LOCK:
        return _kept(vocabulary.resolve(), table.resolve(), digest(vocabulary), digest(table))


@lru_cache(maxsize=4)
def _kept(vocabulary: Path, table: Path, *sums: str) -> tuple[Vocabulary, Tensor]:  # noqa: ARG001
    return words(vocabulary, table)
