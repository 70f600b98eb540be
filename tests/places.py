"""Where the project and the sample files of the tests are."""

from pathlib import Path

PROJECT = Path(__file__).parents[1]
SAMPLES = PROJECT / "tests" / "samples"
BOOK = PROJECT / "configs" / "tiny" / "book.txt"
"""A little book as Project Gutenberg publishes them; it comes with gareader, for the examples of the documents."""
