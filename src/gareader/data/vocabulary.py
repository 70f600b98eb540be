"""The vocabulary and the alphabet of a model: words and characters with their numbers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gareader.core.errors import CorpusError
from gareader.core.files import open_regular

LOOKUPS = 2000
"""After so many words were looked up in a file, a dict is made of it, in which the next ones are found sooner."""
_HEAD, _TAIL, _ALL = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, (1 << 64) - 1
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


class Vocabulary:
    """Distinct words in a fixed order; the number of a word is its row in the word table."""

    def __init__(self, words: Iterable[str]) -> None:
        """Keep the order of first occurrence, so that the same corpus always gives the same numbers."""
        words = list(words)
        self._rows: dict[str, int] | _Lines = dict(zip(words, count()))
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
        return isinstance(word, str) and self.get(word) is not None

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
        vocabulary, lines = cls(()), _Lines(_read(path))
        if lines.differ:
            vocabulary._rows = lines
            return vocabulary
        words = [*lines]
        vocabulary = cls(words)
        if len(vocabulary) < len(words):
            number = next(n for n, word in enumerate(words, 1) if vocabulary.get(word) != n - 1)
            raise CorpusError(f"{words[number - 1]!r} is there twice; copy the vocabulary again", path, number)
        return vocabulary


class _Lines:
    """The lines of a text with their numbers: to make a dict of 100,000 words takes longer than all else of a model.

    A line's key is a hash of its length and its first and last eight bytes. It is found among the sorted keys; the few
    lines that share their key with others are in a dict.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text + b"\n" * (text[-1:] not in (b"", b"\n"))
        self._ends = np.flatnonzero(np.frombuffer(self._text, np.uint8) == ord("\n"))
        self._starts = np.append(0, self._ends + 1)[:-1]
        sizes = self._ends - self._starts
        eight = np.ndarray(len(self._text) + 9, "<u8", bytes(8) + self._text + bytes(8), strides=(1,))
        heads = eight[self._starts + 8] & _MASKS[np.minimum(sizes, 8)]
        tails = np.where(sizes < 8, 0, eight[self._ends])
        keys = heads * np.uint64(_HEAD) + tails * np.uint64(_TAIL) + sizes.astype(np.uint64)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        same = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        few = sorted({*self._order[same].tolist(), *self._order[same + 1].tolist()})
        self._alike: dict[bytes, int] = {self._line(number): number for number in few}
        self.differ = len(self._alike) == len(few)
        """Whether no line is there twice."""
        self._asked, self._rows = 0, dict[str, int]()

    def get(self, line: str) -> int | None:
        """The number of a line, if it is there."""
        if self._asked == LOOKUPS and not self._rows:
            self._rows = dict(zip(self, count()))
        if self._rows:
            return self._rows.get(line)
        self._asked += 1
        word = line.encode(errors="surrogatepass")
        if word in self._alike:
            return self._alike[word]
        head, tail = int.from_bytes(word[:8], "little"), int.from_bytes(word[-8:], "little") if len(word) >= 8 else 0
        key = (head * _HEAD + tail * _TAIL + len(word)) & _ALL
        place = int(self._keys.searchsorted(np.uint64(key)))
        if place == len(self._keys) or self._keys[place] != key:
            return None
        number = int(self._order[place])
        return number if self._line(number) == word else None

    def _line(self, number: int) -> bytes:
        return self._text[self._starts[number] : self._ends[number]]

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._text[:-1].decode().split("\n") if self._text else ())


class Alphabet:
    """Characters in the order of their code points; number 0 is every other character."""

    def __init__(self, characters: Iterable[str]) -> None:
        self._codes = {character: code for code, character in enumerate(sorted(set(characters)), 1)}
        points = {ord(character): code for character, code in self._codes.items() if len(character) == 1}
        self._numbers = np.zeros(max(points, default=0) + 2, np.int64)
        """By code points; the last one stands for all that are larger than those of the alphabet."""
        self._numbers[[*points]] = [*points.values()]

    @classmethod
    def of(cls, words: Iterable[str]) -> "Alphabet":
        """The alphabet of all characters of the words."""
        return cls(character for word in words for character in word)

    def encode(self, words: Sequence[str], limit: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The numbers of the words' first characters, padded with zeros; also the mask, true on characters."""
        lengths = np.minimum(np.fromiter(map(len, words), np.int64, len(words)), limit)
        mask = np.arange(lengths.max()) < lengths[:, None]
        points = np.array(words, f"U{limit}").view(np.uint32).reshape(len(words), limit)[:, : mask.shape[1]]
        return self._numbers[np.minimum(points, len(self._numbers) - 1)], mask

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
        text = _read(path).decode()  # only a line feed ends a line: there are Unicode's other line breaks
        return cls(text.removesuffix("\n").split("\n") if text else [])


def write_lines(rows: Iterable[str], path: Path) -> None:
    """Write one row per line; no row may contain a line feed."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{row}\n" for row in rows)


def _read(path: Path) -> bytes:
    """The content of a file; raise CorpusError if it is not UTF-8."""
    with open_regular(path) as file:
        text = file.read()
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(f"not UTF-8 ({error}); copy the file again", path) from None
    return text
