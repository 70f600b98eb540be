"""Layers that readers are made of; they take plain tensors and numbers."""
