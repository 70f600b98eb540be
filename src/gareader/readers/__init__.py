"""Readers by name: one paper, one file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gareader.batching import Batch, Collator
from gareader.readers.aoa_reader import AoAConfig, AoAReader
from gareader.readers.attention_sum_reader import AttentionSumConfig, AttentionSumReader
from gareader.readers.attentive_reader import AttentiveConfig, AttentiveReader
from gareader.readers.bidaf_reader import BiDAFConfig, BiDAFReader
from gareader.readers.deep_lstm_reader import DeepLSTMConfig, DeepLSTMReader
from gareader.readers.der_reader import DERConfig, DERReader
from gareader.readers.epireader_reader import EpiReader, EpiReaderConfig, epireader_loss
from gareader.readers.gated_attention_reader import GatedAttentionConfig, GatedAttentionReader
from gareader.readers.impatient_reader import ImpatientConfig, ImpatientReader
from gareader.readers.iterative_reader import IterativeConfig, IterativeReader
from gareader.readers.lstm_lm_reader import (
    LSTMLanguageModelConfig,
    LSTMLanguageModelReader,
    language_loss,
    language_words,
)
from gareader.readers.memory_reader import MemoryConfig, MemoryReader, window_loss
from gareader.readers.nse_reader import NSEConfig, NSEReader
from gareader.readers.output import answer_loss, mass_loss
from gareader.readers.reasonet_reader import ReasoNetConfig, ReasoNetReader
from gareader.readers.stanford_reader import StanfordConfig, StanfordReader


@dataclass(frozen=True)
class Kind:
    """What to know about a reader."""

    reader: Callable[..., Any]
    """Its class."""
    config: Any
    """The dataclass of its settings."""
    loss: Callable[[Any, Batch], Tensor] = answer_loss
    """What training makes small, from its output and the batch."""
    count: Callable[[Batch], int] = lambda batch: len(batch.answer)
    """How many things the loss of a batch is the mean of: questions, if nothing else is said."""
    row_per_word: bool = False
    """Whether weights beside the word table have a row for each word of the vocabulary."""
    names_answers: bool = False
    """Whether it has to know which words can be answers."""


READERS = {
    "gated-attention": Kind(GatedAttentionReader, GatedAttentionConfig),
    "deep-lstm": Kind(DeepLSTMReader, DeepLSTMConfig, row_per_word=True, names_answers=True),
    "attentive": Kind(AttentiveReader, AttentiveConfig, row_per_word=True, names_answers=True),
    "impatient": Kind(ImpatientReader, ImpatientConfig, row_per_word=True, names_answers=True),
    "memory": Kind(MemoryReader, MemoryConfig, window_loss),
    "attention-sum": Kind(AttentionSumReader, AttentionSumConfig, mass_loss),
    "der": Kind(DERReader, DERConfig),
    "stanford": Kind(StanfordReader, StanfordConfig, row_per_word=True, names_answers=True),
    "iterative": Kind(IterativeReader, IterativeConfig, mass_loss),
    "epireader": Kind(EpiReader, EpiReaderConfig, epireader_loss),
    "aoa": Kind(AoAReader, AoAConfig, mass_loss),
    "reasonet": Kind(ReasoNetReader, ReasoNetConfig, mass_loss),
    "nse": Kind(NSEReader, NSEConfig, mass_loss),
    "bidaf": Kind(BiDAFReader, BiDAFConfig),
    "lstm-lm": Kind(LSTMLanguageModelReader, LSTMLanguageModelConfig, language_loss, language_words, row_per_word=True),
}
"""The readers by the names that `reader.name` takes."""


def new_reader(
    name: str, config: Any, words: Tensor, collator: Collator, *, generator: torch.Generator | None = None
) -> nn.Module:
    """The reader of that name for all that the collator knows, with its first weights; `words` is the word table."""
    kind = READERS[name]
    more = {"answers": collator.answers} if kind.names_answers else {}
    reader: nn.Module = kind.reader(config, words, len(collator.alphabet), generator=generator, **more)
    return reader
