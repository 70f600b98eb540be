"""GloVe and word2vec files to a word table; other words get random vectors."""

import hashlib
import re
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gareader.core.errors import VectorsError
from gareader.core.files import Content, opened
from gareader.data.vocabulary import Vocabulary

Floats = npt.NDArray[np.float32]

_Record = tuple[bytes, Floats, int | None]
"""A word, its vector, and its line number in a text file."""

_BLOCK = 1 << 20
_CONTROLS = bytes(range(32)).translate(None, b"\t\n\r")
_HEADER = re.compile(rb"\d{1,12} [1-9]\d{0,4}\s*")
_AGAIN = "get the file again"


_per_thread = threading.local()
"""A RandomState for each thread, made with its first word: to make one takes 0.1 ms, to seed it again 0.01 ms."""


def random_vector(word: str, width: int, seed: int) -> Floats:
    """Draw N(0, 1) per component from the word and the seed alone: equal in every process, run and version of numpy."""
    digest = hashlib.blake2b(f"{seed} {word}".encode("utf-8", "surrogatepass"), digest_size=32).digest()
    if not hasattr(_per_thread, "state"):
        _per_thread.state = np.random.RandomState(0)  # no Generator: numpy guarantees this stream only
    _per_thread.state.seed(np.frombuffer(digest, "<u4"))
    vector: Floats = _per_thread.state.standard_normal(width).astype(np.float32)
    return vector


@dataclass(frozen=True)
class WordTable:
    """One row per word: first the words with a pretrained vector, then those with a random one."""

    vocabulary: Vocabulary
    matrix: Floats
    """(V, width)"""
    pretrained: int
    """The number of words with a pretrained vector, of their own or of their lower-case form; they are the first."""


def word_table(
    words: Collection[str],
    path: Path | str | None,
    *,
    width: int,
    seed: int,
    every_vector: bool = False,
    unknown_scale: float = 1.0,
) -> WordTable:
    """Make a row for each word: its vector in the file, else that of its lower-case form, else a random one.

    With `every_vector` the other words of the file have rows too, for text unlike the corpus.
    """
    vectors: dict[str, Floats] = {}
    if path is not None:
        check_width(path, width)
        vectors = read_vectors(path, None if every_vector else words)
    exact = [word for word in words if word in vectors]
    others = [word for word in words if word not in vectors]
    lowered = [word for word in others if word.lower() in vectors]
    unknown = [word for word in others if word.lower() not in vectors]
    if every_vector:
        exact = list(dict.fromkeys([*exact, *vectors]))
    vocabulary = Vocabulary([*exact, *lowered, *unknown])
    matrix = np.empty((len(vocabulary), width), np.float32)
    for row, word in enumerate(vocabulary):
        vector = vectors.get(word, vectors.get(word.lower()))
        matrix[row] = random_vector(word, width, seed) * np.float32(unknown_scale) if vector is None else vector
    return WordTable(vocabulary, matrix, len(exact) + len(lowered))


def check_width(path: Path | str, width: int) -> None:
    """Raise VectorsError if the file's vectors have another width; read only its beginning."""
    with opened(Path(path), VectorsError) as content:
        width_of_file, _ = _records(content, Path(path), set())
    if width_of_file != width:
        way_out = f"take another file, or set data.vector_width = {width_of_file}"
        raise VectorsError(f"its vectors have {width_of_file} numbers, not {width}; {way_out}", path)


def read_vectors(path: Path | str, words: Collection[str] | None = None) -> dict[str, Floats]:
    """Read the vectors of these words and their lower-case forms, or all vectors; of duplicates the first counts."""
    path = Path(path)
    wanted = None
    if words is not None:
        wanted = {form.encode(errors="replace") for word in words for form in (word, word.lower())}
    vectors: dict[str, Floats] = {}
    with opened(path, VectorsError) as content:
        _, records = _records(content, path, wanted)
        for word, vector, line in records:
            if not np.isfinite(vector).all():
                name = word.decode(errors="replace")
                problem = f"the vector of {name!r} holds a number that is not finite; {_AGAIN}"
                raise VectorsError(problem, path, line)
            with suppress(UnicodeDecodeError):  # real files hold words that are no UTF-8; no text has them
                vectors.setdefault(word.decode(), vector)
    return vectors


def _records(file: Content, path: Path, wanted: set[bytes] | None) -> tuple[int, Iterator[_Record]]:
    """Return the width and the wanted vectors of a file in any of the three formats."""
    lines = iter(partial(file.readline, _BLOCK), b"")
    first = next(lines, b"")
    header = first.split()
    if _HEADER.fullmatch(first):
        count, width = map(int, header)
        if _is_text(file.peek(_BLOCK).partition(b" ")[2][: 4 * width]):
            return width, _text(lines, path, wanted, width, count)
        return width, _binary(file, path, wanted, width, count)
    if not first:
        raise VectorsError(f"the file is empty; {_AGAIN}", path)
    width = min(len(header) - 1, sum(1 for _ in takewhile(_is_number, reversed(header))))
    if width < 2:
        shape = "each line a word and its numbers (GloVe), or word2vec text or binary"
        raise VectorsError(f"this is no file of word vectors; expected {shape}", path, 1)
    return width, _text(chain([first], lines), path, wanted, width, None)


def _text(
    lines: Iterable[bytes], path: Path, wanted: set[bytes] | None, width: int, count: int | None
) -> Iterator[_Record]:
    # GloVe has words with spaces, such as ". . .": compare the part before the first space, then the whole word
    heads = None if wanted is None else {word.split(b" ", 1)[0] for word in wanted}
    lines_with_words = 0
    for number, line in enumerate(lines, 1 if count is None else 2):
        body = line.rstrip(b" \r\n")  # word2vec leaves a space at the end of each line
        if body.count(b" ") != width:
            if not body:
                continue
            _check_width(line, path, number, width)
            body = b" ".join(body.rsplit(maxsplit=width))  # separated by tabs, or by several spaces
        lines_with_words += 1
        if heads is not None and body[: body.find(b" ")] not in heads:
            continue
        word, *numbers = body.rsplit(b" ", width)
        if wanted is None or word in wanted:
            yield word, _floats(numbers, path, number), number
    if count not in (None, lines_with_words):
        problem = f"the first line promises {count} words, but there are {lines_with_words}"
        raise VectorsError(f"{problem}; {_AGAIN}", path, 1)


def _binary(file: Content, path: Path, wanted: set[bytes] | None, width: int, count: int) -> Iterator[_Record]:
    data, position, size = b"", 0, 4 * width
    for number in range(1, count + 1):
        while (space := data.find(b" ", position)) < 0 or len(data) < space + 1 + size:
            more = file.read(_BLOCK) if len(data) - position < size + _BLOCK else b""
            if not more:
                raise VectorsError(f"cut off in word {number} of {count} that its first line promises; {_AGAIN}", path)
            data, position = data[position:] + more, 0
        word = data[position:space].lstrip(b"\n")  # some writers end each vector with a line break
        position = space + 1 + size
        if wanted is None or word in wanted:
            yield word, np.frombuffer(data, "<f4", width, space + 1).astype(np.float32), None
    if (data[position:] + file.read(_BLOCK)).strip(b"\n"):
        raise VectorsError(f"it goes on after the {count} words that its first line promises; {_AGAIN}", path)


def _check_width(line: bytes, path: Path, number: int, width: int) -> None:
    """Raise VectorsError for a line with the wrong number of numbers; a word may have spaces in it."""
    fields = line.split()
    numbers = sum(1 for _ in takewhile(_is_number, reversed(fields[1:])))
    if numbers < width and not line.endswith(b"\n"):
        raise VectorsError(f"this line is cut off: {numbers} numbers where {width} are due; {_AGAIN}", path, number)
    if numbers != width:
        raise VectorsError(f"{numbers} numbers where {width} are due; {_AGAIN}", path, number)


def _floats(fields: list[bytes], path: Path, line: int) -> Floats:
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 becomes infinite, and the caller refuses it
            return np.array(list(map(float, fields)), np.float32)
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        raise VectorsError(f"{wrong.decode(errors='replace')!r} is not a number", path, line) from None


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_text(sample: bytes) -> bool:
    """Whether the bytes after the first word are text; binary floats soon have a byte that no text has."""
    try:
        sample.decode()
    except UnicodeDecodeError as error:
        if error.end < len(sample):
            return False
    return len(sample.translate(None, _CONTROLS)) == len(sample)
