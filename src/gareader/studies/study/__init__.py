"""Studies: readers × corpora × settings × fractions × seeds into one table; they can be interrupted at any point."""

from gareader.studies.study.plan import Study, Trial
from gareader.studies.study.results import Result, read_results
from gareader.studies.study.running import Studio
from gareader.studies.study.table import markdown

__all__ = ["Result", "Studio", "Study", "Trial", "markdown", "read_results"]
