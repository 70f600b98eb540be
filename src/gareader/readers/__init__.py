"""Readers by name: one paper, one file."""

import torch
from torch import Tensor, nn

from gareader.batching import Collator
from gareader.config import Settings
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
from gareader.readers.output import mass_loss
from gareader.readers.reader import Basis, Kind
from gareader.readers.reasonet_reader import ReasoNetConfig, ReasoNetReader
from gareader.readers.stanford_reader import StanfordConfig, StanfordReader

READERS: dict[str, Kind] = {
    "gated-attention": Kind.of(GatedAttentionReader, GatedAttentionConfig),
    "deep-lstm": Kind.of(DeepLSTMReader, DeepLSTMConfig, row_per_word=True),
    "attentive": Kind.of(AttentiveReader, AttentiveConfig, row_per_word=True),
    "impatient": Kind.of(ImpatientReader, ImpatientConfig, row_per_word=True),
    "memory": Kind.of(MemoryReader, MemoryConfig, window_loss),
    "attention-sum": Kind.of(AttentionSumReader, AttentionSumConfig, mass_loss),
    "der": Kind.of(DERReader, DERConfig),
    "stanford": Kind.of(StanfordReader, StanfordConfig, row_per_word=True),
    "iterative": Kind.of(IterativeReader, IterativeConfig, mass_loss),
    "epireader": Kind.of(EpiReader, EpiReaderConfig, epireader_loss),
    "aoa": Kind.of(AoAReader, AoAConfig, mass_loss),
    "reasonet": Kind.of(ReasoNetReader, ReasoNetConfig, mass_loss),
    "nse": Kind.of(NSEReader, NSEConfig, mass_loss),
    "bidaf": Kind.of(BiDAFReader, BiDAFConfig),
    "lstm-lm": Kind.of(
        LSTMLanguageModelReader, LSTMLanguageModelConfig, language_loss, language_words, row_per_word=True
    ),
}
"""The readers by the names that `reader.name` takes."""


def new_reader(
    name: str, config: Settings, words: Tensor, collator: Collator, *, generator: torch.Generator | None = None
) -> nn.Module:
    """The reader of that name for all that the collator knows, with its first weights; `words` is the word table."""
    return READERS[name].reader(config, Basis(words, len(collator.alphabet), collator.answers, generator))
