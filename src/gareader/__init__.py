"""The Gated-Attention Reader for cloze questions: the public names, each imported when it is first used."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gareader.examples import Prediction as _Prediction

if TYPE_CHECKING:  # for type checkers and editors; at run time __getattr__ below finds the same names
    from gareader.batching import Batch as Batch
    from gareader.batching import Collator as Collator
    from gareader.corpora import read as read
    from gareader.errors import GareaderError as GareaderError
    from gareader.examples import Example as Example
    from gareader.examples import Prediction as Prediction
    from gareader.predictor import Answering as Answering
    from gareader.predictor import Ensemble as Ensemble
    from gareader.predictor import Predictor as Predictor
    from gareader.predictor import load as load
    from gareader.predictor import untrained as untrained
    from gareader.readers.gated_attention_reader import GatedAttentionConfig as GatedAttentionConfig
    from gareader.readers.gated_attention_reader import GatedAttentionReader as GatedAttentionReader
    from gareader.readers.output import ReaderOutput as ReaderOutput
    from gareader.store import PreparedCorpus as PreparedCorpus
    from gareader.store import prepare as prepare
    from gareader.vectors import word_table as word_table
    from gareader.vocabulary import Alphabet as Alphabet
    from gareader.vocabulary import Vocabulary as Vocabulary

HOMES = {
    "Alphabet": "vocabulary",
    "Answering": "predictor",
    "Batch": "batching",
    "Collator": "batching",
    "Ensemble": "predictor",
    "Example": "examples",
    "GareaderError": "errors",
    "GatedAttentionConfig": "readers.gated_attention_reader",
    "GatedAttentionReader": "readers.gated_attention_reader",
    "Prediction": "examples",
    "Predictor": "predictor",
    "PreparedCorpus": "store",
    "ReaderOutput": "readers.output",
    "Vocabulary": "vocabulary",
    "load": "predictor",
    "prepare": "store",
    "read": "corpora",
    "untrained": "predictor",
    "word_table": "vectors",
}
"""The module of each public name: torch is imported only with a name that needs it."""

__all__ = list(HOMES)


def _draw(prediction: _Prediction, path: Path) -> None:
    from gareader.plots import attention_figure, save  # they need a moment, and matplotlib

    save(attention_figure(prediction), path)


_Prediction.draw = staticmethod(_draw)


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module 'gareader' has no attribute {name!r}")
    return getattr(import_module(f"gareader.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
