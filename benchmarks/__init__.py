"""Measurements for the developers of gareader; those for users are `gareader bench`."""
