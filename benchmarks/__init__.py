"""Measurements that the project itself needs; those for users are `gareader bench`."""
