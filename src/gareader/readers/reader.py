"""The contract of a reader: built from settings and a Basis, it turns a Batch into a ReaderOutput; shared losses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.core.config import Settings, declared
from gareader.data import arrays
from gareader.nn.tensors import Batch

ReaderOutput = arrays.ReaderOutput[Tensor]


class Reader(Protocol):
    """A torch.nn.Module with `config` and `forward`, whose word table is the weight `embed.words`."""

    @property
    def config(self) -> Settings:
        """The reader's settings."""

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also the attention, if the reader has any."""


@dataclass(frozen=True)
class Basis:
    """The arguments of a reader's constructor beside its settings."""

    words: Tensor
    """(words, width): the word table."""
    characters: int = 0
    """The size of the alphabet."""
    answers: Sequence[int] | None = None
    """The rows of the answer words; None for all words."""
    generator: torch.Generator | None = None
    """The generator of the initial weights; None for torch's global one."""


def answer_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log Pr(answer|d,q), the mean over the batch."""
    return functional.nll_loss(output.log_probabilities, batch.answer)


@dataclass(frozen=True, kw_only=True)
class PointerOutput(ReaderOutput):
    """Output of readers whose loss has a softmax over all words of the document, not over the candidates alone."""

    log_mass: Tensor
    """(B, C): log of the attention on each candidate, not renormalised over the candidates."""


def mass_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log of the attention on the answer, the mean over the batch."""
    if not isinstance(output, PointerOutput):
        raise TypeError("the reader gave no log_mass")
    return functional.nll_loss(output.log_mass, batch.answer)


Config = TypeVar("Config", bound=Settings)


@dataclass(frozen=True)
class Kind:
    """The registry's entry for a reader; `Kind.of` builds it."""

    reader: Callable[[Settings, Basis], nn.Module]
    """Builds a reader from settings and a basis."""
    config: type[Settings]
    """The dataclass of its settings, `update_words` among them: whether training changes the word vectors."""
    loss: Callable[[ReaderOutput, Batch], Tensor]
    """The loss, from output and batch; a mean."""
    count: Callable[[Batch], int]
    """The number of terms of that mean for a batch."""
    row_per_word: bool
    """Whether weights beside the word table have a row for each word of the vocabulary."""

    @classmethod
    def of(
        cls,
        reader: Callable[[Config, Basis], Reader],
        config: type[Config],
        loss: Callable[[ReaderOutput, Batch], Tensor] = answer_loss,
        count: Callable[[Batch], int] = lambda batch: len(batch.answer),
        *,
        row_per_word: bool = False,
    ) -> "Kind":
        """The Kind of a reader's class and settings class; by default the loss is a mean over questions."""
        if "update_words" not in declared(config):
            raise TypeError(f"{config.__name__} has no setting update_words, which every reader needs")

        def build(settings: Settings, basis: Basis) -> nn.Module:
            if not isinstance(settings, config):
                raise TypeError(f"settings of type {type(settings).__name__} where {config.__name__} is due")
            module = reader(settings, basis)
            if not isinstance(module, nn.Module):
                raise TypeError(f"{type(module).__name__} is no torch.nn.Module, which a reader must be")
            return module

        return cls(build, config, loss, count, row_per_word)
