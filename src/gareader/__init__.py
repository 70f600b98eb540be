"""The Gated-Attention Reader for cloze questions."""
