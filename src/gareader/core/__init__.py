"""Errors, settings, files, processes and significance, which all rooms use. No text and no tensors."""
