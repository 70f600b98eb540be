"""The vocabulary and the alphabet of a model: words and characters with their numbers."""

from collections.abc import Iterable, Iterator
from itertools import count, repeat
from pathlib import Path

from gareader.core.errors import CorpusError
from gareader.core.files import open_regular


class Vocabulary:
    """Distinct words in a fixed order; the number of a word is its row in the word table."""

    def __init__(self, words: Iterable[str]) -> None:
        """Keep the order of first occurrence, so that the same corpus always gives the same numbers."""
        words = list(words)
        self._rows: dict[str, int] = dict(zip(words, count()))
        if len(self._rows) < len(words):
            self._rows = dict(zip(dict.fromkeys(words), count()))

    def get(self, word: str) -> int | None:
        """The word's row, or None for an unknown word."""
        return self._rows.get(word)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self):,} words"

    def write(self, path: Path) -> None:
        """Write one word per line, in order."""
        write_lines(self, path)

    @classmethod
    def read(cls, path: Path) -> "Vocabulary":
        """Read the file of `write`."""
        words = read_lines(path)
        vocabulary = cls(words)
        if len(vocabulary) < len(words):
            number = next(n for n, word in enumerate(words, 1) if vocabulary.get(word) != n - 1)
            raise CorpusError(f"{words[number - 1]!r} is there twice; copy the vocabulary again", path, number)
        return vocabulary


class Alphabet:
    """Characters in the order of their code points; number 0 is every other character."""

    def __init__(self, characters: Iterable[str]) -> None:
        self._codes = {character: code for code, character in enumerate(sorted(set(characters)), 1)}

    @classmethod
    def of(cls, words: Iterable[str]) -> "Alphabet":
        """The alphabet of all characters of the words."""
        return cls(character for word in words for character in word)

    def encode(self, word: str, limit: int) -> list[int]:
        """The numbers of the word's first characters."""
        return list(map(self._codes.get, word[:limit], repeat(0)))

    def __len__(self) -> int:
        return len(self._codes) + 1

    def __repr__(self) -> str:
        return f"Alphabet of {len(self._codes):,} characters"

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alphabet) and self._codes == other._codes

    __hash__ = None  # type: ignore[assignment]

    def write(self, path: Path) -> None:
        """Write one character per line, in order."""
        write_lines(self, path)

    @classmethod
    def read(cls, path: Path) -> "Alphabet":
        """Read the file of `write`."""
        return cls(read_lines(path))


def write_lines(rows: Iterable[str], path: Path) -> None:
    """Write one row per line; no row may contain a line feed."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{row}\n" for row in rows)


def read_lines(path: Path) -> list[str]:
    """Read the rows of `write_lines`; only a line feed ends a row: words may contain Unicode's other line breaks."""
    try:
        with open_regular(path) as file:
            text = file.read().decode()
    except UnicodeDecodeError as error:
        raise CorpusError(f"not UTF-8 ({error}); copy the file again", path) from None
    return text.removesuffix("\n").split("\n") if text else []
