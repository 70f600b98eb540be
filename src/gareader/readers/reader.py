"""What a reader is: made of settings and a start, it turns a Batch into a ReaderOutput."""

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import torch
from torch import Tensor, nn

from gareader.batching import Batch
from gareader.readers.output import ReaderOutput, answer_loss


class ReaderConfig(Protocol):
    """The settings of a reader: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def update_words(self) -> bool:
        """Whether training changes the word vectors."""


class Reader(Protocol):
    """A torch.nn.Module with these, whose word table is the weight `embed.words`."""

    @property
    def config(self) -> ReaderConfig:
        """Its settings."""

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also what led to them, where it has any."""


@dataclass(frozen=True)
class Start:
    """What a reader begins with."""

    words: Tensor
    """(words, width): the word table."""
    characters: int = 0
    """The size of the alphabet."""
    answers: Sequence[int] | None = None
    """The rows of the words that can be answers; all, if None."""
    generator: torch.Generator | None = None
    """Draws the first weights; the world's generator, if None."""


Config = TypeVar("Config", bound=ReaderConfig)


@dataclass(frozen=True)
class Kind:
    """What to know about a reader; `Kind.of` makes one."""

    reader: Callable[[ReaderConfig, Start], nn.Module]
    """Makes one of these settings."""
    config: type[ReaderConfig]
    """The dataclass of its settings."""
    loss: Callable[[ReaderOutput, Batch], Tensor]
    """What training makes small, from its output and the batch."""
    count: Callable[[Batch], int]
    """How many things the loss of a batch is the mean of."""
    row_per_word: bool
    """Whether weights beside the word table have a row for each word of the vocabulary."""

    @classmethod
    def of(
        cls,
        reader: Callable[[Config, Start], Reader],
        config: type[Config],
        loss: Callable[[ReaderOutput, Batch], Tensor] = answer_loss,
        count: Callable[[Batch], int] = lambda batch: len(batch.answer),
        *,
        row_per_word: bool = False,
    ) -> "Kind":
        """From a reader's class and that of its settings; without a `count` the loss is the mean over questions."""

        def made(settings: ReaderConfig, start: Start) -> nn.Module:
            if not isinstance(settings, config):
                raise TypeError(f"settings of type {type(settings).__name__} where {config.__name__} is due")
            found = reader(settings, start)
            if not isinstance(found, nn.Module):
                raise TypeError(f"{type(found).__name__} is no torch.nn.Module, which a reader must be")
            return found

        return cls(made, config, loss, count, row_per_word)
