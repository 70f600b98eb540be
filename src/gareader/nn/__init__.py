"""Layers of the readers; they take plain tensors and numbers."""
