"""Prepared corpora: Arrow files on disk, memory-mapped, that pyarrow, polars and datasets read too."""

from gareader.store.addresses import is_prepared as is_prepared
from gareader.store.reading import PreparedCorpus as PreparedCorpus
from gareader.store.reading import read_examples as read_examples
from gareader.store.writing import Watch as Watch
from gareader.store.writing import prepare as prepare
from gareader.store.writing import prepare_corpus as prepare_corpus
from gareader.store.writing import prepared_once as prepared_once
