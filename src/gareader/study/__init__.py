"""Studies: readers × corpora × settings × fractions × seeds, into one table that can be interrupted at any point."""

from gareader.study.plan import Study, Trial
from gareader.study.results import Result, read_results
from gareader.study.running import Studio
from gareader.study.table import markdown

__all__ = ["Result", "Studio", "Study", "Trial", "markdown", "read_results"]
