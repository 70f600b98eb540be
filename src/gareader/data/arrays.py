"""Batch, the input of a reader, and ReaderOutput, its output: of numpy arrays for answers, of tensors for training.

B examples, D document tokens, Q query tokens, C candidates, W words of a candidate, N characters of a word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Array = TypeVar("Array")
Other = TypeVar("Other")

TABLE = "embed.words"
"""The name of the word table L among a reader's weights; every reader calls its embedding `embed`."""


@dataclass(frozen=True)
class Types(Generic[Array]):
    """The distinct words of a batch: those in the vocabulary first, then the others."""

    known: Array
    """(known types,): their rows in the word table."""
    unknown: Array
    """(unknown types, word vector width): random vectors, drawn by the spelling."""
    characters: Array
    """(types, N): the first N characters of each word as indices into the alphabet."""
    character_mask: Array
    """(types, N): true on real characters."""
    ends: Array
    """(types,): true for words that end a sentence."""


@dataclass(frozen=True)
class Batch(Generic[Array]):
    """Cloze questions as arrays; words are indices into `types`, masks are true on real tokens."""

    types: Types[Array]
    document: Array
    """(B, D)"""
    document_mask: Array
    """(B, D)"""
    quoted: Array
    """(B, D): true inside a quotation."""
    query: Array
    """(B, Q), wrapped in @begin … @end."""
    query_mask: Array
    """(B, Q)"""
    placeholder: Array
    """(B,): the position of the blank in the wrapped query."""
    occurrence: Array
    """(B, C, D): true where the document's word is a word of the candidate, I(c, d)."""
    words_present: Array
    """(B, C): how many distinct words of the candidate are in the document; 1 if none is."""
    answer: Array
    """(B,): index of the right candidate; −1 if it is unknown."""
    candidates: Array
    """(B, C, W): the words of each candidate."""
    candidates_mask: Array
    """(B, C, W)"""

    def __repr__(self) -> str:
        sizes = {name: tuple(getattr(self, name).shape) for name in ("document", "query", "candidates")}
        return f"<Batch {', '.join(f'{name} {shape}' for name, shape in sizes.items())}>"

    def map(self, function: Callable[[Array], Other]) -> "Batch[Other]":
        """The batch with the function's value of every array."""
        types = Types(**{name: function(array) for name, array in vars(self.types).items()})
        others = {name: function(array) for name, array in vars(self).items() if name != "types"}
        return Batch(types, **others)


@dataclass(frozen=True)
class ReaderOutput(Generic[Array]):
    """Log-probabilities of the candidates and, on request, attention."""

    log_probabilities: Array
    """(B, C): log Pr(c|d,q); −inf for a candidate that is not in the document."""
    hop_attention: tuple[Array, ...] = ()
    """(B, D, Q) for each hop: the attention of each document token to the query tokens; in readers that say so, that of
    each query token to the document tokens."""
    document_attention: Array | None = None
    """(B, D): the final attention s over the document."""

    def __repr__(self) -> str:
        shape = tuple(getattr(self.log_probabilities, "shape", ()))
        hops = len(self.hop_attention)
        looks = "without attention" if self.document_attention is None else f"attention of {hops} hops"
        return f"<ReaderOutput log_probabilities {shape}, {looks}>"
