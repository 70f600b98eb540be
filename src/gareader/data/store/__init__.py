"""Prepared corpora: memory-mapped Arrow files, which pyarrow, polars and datasets read too."""

from gareader.data.store.reading import PreparedCorpus as PreparedCorpus
from gareader.data.store.writing import Watch as Watch
from gareader.data.store.writing import prepare as prepare
from gareader.data.store.writing import prepare_corpus as prepare_corpus
from gareader.data.store.writing import prepared_once as prepared_once
from gareader.data.store.writing import unwatched as unwatched
