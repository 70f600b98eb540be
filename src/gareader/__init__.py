"""The Gated-Attention Reader for cloze questions: the public names, each imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

from gareader.data.examples import Prediction as _Prediction
from gareader.data.examples import Target as _Target

if TYPE_CHECKING:  # for type checkers and editors; at run time __getattr__ below finds the same names
    from matplotlib.figure import Figure

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
    from gareader.training.experiment import Experiment as Experiment
    from gareader.training.experiment import train as train
    from gareader.training.run import Run as Run
    from gareader.training.settings import DataConfig as DataConfig
    from gareader.training.settings import TrainConfig as TrainConfig

HOMES = {
    "Alphabet": "data.vocabulary",
    "Answering": "trained.predictor",
    "Batch": "data.arrays",
    "Collator": "data.batching",
    "DataConfig": "training.settings",
    "Ensemble": "trained.predictor",
    "Example": "data.examples",
    "Experiment": "training.experiment",
    "GareaderError": "core.errors",
    "GatedAttentionConfig": "readers.settings",
    "GatedAttentionReader": "readers.gated_attention_reader",
    "Prediction": "data.examples",
    "Predictor": "trained.predictor",
    "PreparedCorpus": "data.store",
    "ReaderOutput": "data.arrays",
    "Run": "training.run",
    "TrainConfig": "training.settings",
    "Vocabulary": "data.vocabulary",
    "load": "trained.predictor",
    "prepare": "data.store",
    "read": "data.corpora",
    "train": "training.experiment",
    "untrained": "trained.predictor",
    "word_table": "data.vectors",
}
"""The module of each public name: torch is imported only with a name that needs it."""

__all__ = list(HOMES)


def _draw(prediction: _Prediction, target: _Target, format: str | None) -> "Figure":
    from gareader.plots.attention import attention_figure
    from gareader.plots.figures import save_to

    return save_to(attention_figure(prediction), target, format)


def _html(prediction: _Prediction) -> str:
    from gareader.plots.notebook import prediction_html

    return prediction_html(prediction)


_Prediction.draw = staticmethod(_draw)
_Prediction.html = staticmethod(_html)


def __getattr__(name: str) -> object:
    if name == "__version__":  # of the installation; importlib.metadata is slow to import
        from importlib.metadata import version

        return version("gareader")
    if name not in HOMES:
        raise AttributeError(f"module 'gareader' has no attribute {name!r}")
    from gareader.core.errors import extras_told

    with extras_told():
        return getattr(import_module(f"gareader.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
