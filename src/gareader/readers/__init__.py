"""Readers by name: one paper, one file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from gareader.batching import Batch
from gareader.readers.gated_attention_reader import GatedAttentionConfig, GatedAttentionReader
from gareader.readers.output import answer_loss


@dataclass(frozen=True)
class Kind:
    """What to know about a reader."""

    reader: Callable[..., Any]
    """Its class."""
    config: Any
    """The dataclass of its settings."""
    loss: Callable[[Any, Batch], Tensor] = answer_loss
    """What training makes small, from its output and the batch."""


READERS = {"gated-attention": Kind(GatedAttentionReader, GatedAttentionConfig)}
"""The readers by the names that `reader.name` takes."""
