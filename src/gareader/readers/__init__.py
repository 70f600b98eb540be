"""Readers by name: one paper, one file."""

from gareader.readers.gated_attention_reader import GatedAttentionConfig, GatedAttentionReader

READERS = {"gated-attention": (GatedAttentionReader, GatedAttentionConfig)}
"""Each reader with the dataclass of its settings."""
