"""What a reader knows of words: vocabulary, alphabet and word table, in a folder that readers may share."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from threading import Lock

from safetensors.torch import load_file, save_file
from torch import Tensor

from gareader.nn.embedding import TABLE
from gareader.packing import pack, unpack
from gareader.vocabulary import Alphabet, Vocabulary
from gareader.whole import whole_folder

VOCABULARY, ALPHABET, WORDS = "vocabulary.txt", "alphabet.txt", "words.safetensors"

_LOCK = Lock()


@dataclass(frozen=True)
class Lexicon:
    """The words that have a vector, and the letters."""

    vocabulary: Vocabulary
    alphabet: Alphabet
    table: Tensor
    """(words, width), in single precision."""

    def write(self, folder: Path) -> None:
        """A folder for several readers; the table in 8 bits, so it comes back rounded unless it was before."""
        with whole_folder(folder) as new:
            self.vocabulary.write(new / VOCABULARY)
            self.alphabet.write(new / ALPHABET)
            save_file(pack({TABLE: self.table}), new / WORDS)

    @classmethod
    def read(cls, folder: Path) -> "Lexicon":
        """What `write` wrote; vocabulary and table are those of every reader that shares them."""
        vocabulary, table = shared_words(folder / VOCABULARY, folder / WORDS)
        return cls(vocabulary, Alphabet.read(folder / ALPHABET), table)


def words(vocabulary: Path, table: Path) -> tuple[Vocabulary, Tensor]:
    """A vocabulary and the table with a row for each of its words."""
    return Vocabulary.read(vocabulary), unpack(load_file(table))[TABLE]


def shared_words(vocabulary: Path, table: Path) -> tuple[Vocabulary, Tensor]:
    """The same, read and unpacked once for all readers of this process; nobody may change the table."""
    with _LOCK:
        return _kept(vocabulary.resolve(), table.resolve(), digest(vocabulary), digest(table))


@lru_cache(maxsize=4)
def _kept(vocabulary: Path, table: Path, *sums: str) -> tuple[Vocabulary, Tensor]:  # noqa: ARG001
    return words(vocabulary, table)


def digest(path: Path) -> str:
    """The file's SHA-256."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
