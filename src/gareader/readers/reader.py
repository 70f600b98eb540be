"""What a reader is: made of settings and a basis, it turns a Batch into a ReaderOutput."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from gareader.batching import Batch
from gareader.config import Settings, declared
from gareader.readers.output import ReaderOutput, answer_loss


class Reader(Protocol):
    """A torch.nn.Module with these, whose word table is the weight `embed.words`."""

    @property
    def config(self) -> Settings:
        """Its settings."""

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also what led to them, where it has any."""


@dataclass(frozen=True)
class Basis:
    """What a reader is built on."""

    words: Tensor
    """(words, width): the word table."""
    characters: int = 0
    """The size of the alphabet."""
    answers: Sequence[int] | None = None
    """The rows of the words that can be answers; all, if None."""
    generator: torch.Generator | None = None
    """Draws the first weights; the world's generator, if None."""


Config = TypeVar("Config", bound=Settings)


@dataclass(frozen=True)
class Kind:
    """What to know about a reader; `Kind.of` makes one."""

    reader: Callable[[Settings, Basis], nn.Module]
    """Makes one of these settings."""
    config: type[Settings]
    """The dataclass of its settings, `update_words` among them: whether training changes the word vectors."""
    loss: Callable[[ReaderOutput, Batch], Tensor]
    """What training makes small, from its output and the batch."""
    count: Callable[[Batch], int]
    """How many things the loss of a batch is the mean of."""
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
        """From a reader's class and that of its settings; without a `count` the loss is the mean over questions."""
        if "update_words" not in declared(config):
            raise TypeError(f"{config.__name__} has no setting update_words, which every reader needs")

        def made(settings: Settings, basis: Basis) -> nn.Module:
            if not isinstance(settings, config):
                raise TypeError(f"settings of type {type(settings).__name__} where {config.__name__} is due")
            found = reader(settings, basis)
            if not isinstance(found, nn.Module):
                raise TypeError(f"{type(found).__name__} is no torch.nn.Module, which a reader must be")
            return found

        return cls(made, config, loss, count, row_per_word)
