"""Where the project and the sample files of the tests are."""

from pathlib import Path

PROJECT = Path(__file__).parents[1]
SAMPLES = PROJECT / "tests" / "samples"
TINY = PROJECT / "configs" / "tiny"
"""The files of the documents' examples, which come with gareader."""
BOOK = TINY / "book.txt"
"""A little book as Project Gutenberg publishes them."""
