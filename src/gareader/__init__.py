"""The Gated-Attention Reader for cloze questions: the public names, each imported when it is first used."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gareader.data.examples import Prediction as _Prediction

if TYPE_CHECKING:  # for type checkers and editors; at run time __getattr__ below finds the same names
    __version__: str
    from gareader.core.errors import GareaderError as GareaderError
    from gareader.data.arrays import Batch as Batch
    from gareader.data.arrays import ReaderOutput as ReaderOutput
    from gareader.data.batching import Collator as Collator
    from gareader.data.corpora import read as read
    from gareader.data.examples import Example as Example
    from gareader.data.examples import Prediction as Prediction
    from gareader.data.store import PreparedCorpus as PreparedCorpus
    from gareader.data.store import prepare as prepare
    from gareader.data.vectors import word_table as word_table
    from gareader.data.vocabulary import Alphabet as Alphabet
    from gareader.data.vocabulary import Vocabulary as Vocabulary
    from gareader.readers.gated_attention_reader import GatedAttentionReader as GatedAttentionReader
    from gareader.readers.settings import GatedAttentionConfig as GatedAttentionConfig
    from gareader.trained.predictor import Answering as Answering
    from gareader.trained.predictor import Ensemble as Ensemble
    from gareader.trained.predictor import Predictor as Predictor
    from gareader.trained.predictor import load as load
    from gareader.trained.predictor import untrained as untrained

HOMES = {
    "Alphabet": "data.vocabulary",
    "Answering": "trained.predictor",
    "Batch": "data.arrays",
    "Collator": "data.batching",
    "Ensemble": "trained.predictor",
    "Example": "data.examples",
    "GareaderError": "core.errors",
    "GatedAttentionConfig": "readers.settings",
    "GatedAttentionReader": "readers.gated_attention_reader",
    "Prediction": "data.examples",
    "Predictor": "trained.predictor",
    "PreparedCorpus": "data.store",
    "ReaderOutput": "data.arrays",
    "Vocabulary": "data.vocabulary",
    "load": "trained.predictor",
    "prepare": "data.store",
    "read": "data.corpora",
    "untrained": "trained.predictor",
    "word_table": "data.vectors",
}
"""The module of each public name: torch is imported only with a name that needs it."""

__all__ = list(HOMES)


def _draw(prediction: _Prediction, path: Path) -> None:
    from gareader.plots.attention import attention_figure
    from gareader.plots.figures import save

    save(attention_figure(prediction), path)


_Prediction.draw = staticmethod(_draw)


def __getattr__(name: str) -> object:
    if name == "__version__":  # of the installation; importlib.metadata is slow to import
        from importlib.metadata import version

        return version("gareader")
    if name not in HOMES:
        raise AttributeError(f"module 'gareader' has no attribute {name!r}")
    return getattr(import_module(f"gareader.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
