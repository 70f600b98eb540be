"""Where the project and the sample files of the tests are."""

from pathlib import Path

PROJECT = Path(__file__).parents[1]
SAMPLES = PROJECT / "tests" / "samples"
