"""Readers by name: one file per paper, and readers from outside: modules given by --import and installed packages."""

import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import torch
from torch import Tensor, nn

from gareader.core.config import Settings
from gareader.core.errors import ReaderImportError, did_you_mean
from gareader.data.batching import Collator
from gareader.readers import settings
from gareader.readers.aoa_reader import AoAReader
from gareader.readers.attention_sum_reader import AttentionSumReader
from gareader.readers.attentive_reader import AttentiveReader
from gareader.readers.bidaf_reader import BiDAFReader
from gareader.readers.deep_lstm_reader import DeepLSTMReader
from gareader.readers.der_reader import DERReader
from gareader.readers.epireader_reader import EpiReader, epireader_loss
from gareader.readers.gated_attention_reader import GatedAttentionReader
from gareader.readers.impatient_reader import ImpatientReader
from gareader.readers.iterative_reader import IterativeReader
from gareader.readers.lstm_lm_reader import LSTMLanguageModelReader, language_loss, language_words
from gareader.readers.memory_reader import MemoryReader, window_loss
from gareader.readers.nse_reader import NSEReader
from gareader.readers.reader import Basis, Kind, mass_loss
from gareader.readers.reasonet_reader import ReasoNetReader
from gareader.readers.stanford_reader import StanfordReader

READERS: dict[str, Kind] = {
    "gated-attention": Kind.of(GatedAttentionReader, settings.GatedAttentionConfig),
    "deep-lstm": Kind.of(DeepLSTMReader, settings.DeepLSTMConfig, row_per_word=True),
    "attentive": Kind.of(AttentiveReader, settings.AttentiveConfig, row_per_word=True),
    "impatient": Kind.of(ImpatientReader, settings.ImpatientConfig, row_per_word=True),
    "memory": Kind.of(MemoryReader, settings.MemoryConfig, window_loss),
    "attention-sum": Kind.of(AttentionSumReader, settings.AttentionSumConfig, mass_loss),
    "der": Kind.of(DERReader, settings.DERConfig),
    "stanford": Kind.of(StanfordReader, settings.StanfordConfig, row_per_word=True),
    "iterative": Kind.of(IterativeReader, settings.IterativeConfig, mass_loss),
    "epireader": Kind.of(EpiReader, settings.EpiReaderConfig, epireader_loss),
    "aoa": Kind.of(AoAReader, settings.AoAConfig, mass_loss),
    "reasonet": Kind.of(ReasoNetReader, settings.ReasoNetConfig, mass_loss),
    "nse": Kind.of(NSEReader, settings.NSEConfig, mass_loss),
    "bidaf": Kind.of(BiDAFReader, settings.BiDAFConfig),
    "lstm-lm": Kind.of(
        LSTMLanguageModelReader, settings.LSTMLanguageModelConfig, language_loss, language_words, row_per_word=True
    ),
}
"""The built-in readers, by the names that `reader.name` takes."""

GROUP = "gareader.readers"
"""The group of entry points of installed packages: each gives the name of a reader and the place of its Kind."""

_outside: dict[str, Kind] = {}  # readers of --import modules, and of installed packages that were loaded


def reader_names() -> list[str]:
    """The names of all readers; this imports no package."""
    return [*dict.fromkeys((*READERS, *_outside, *(point.name for point in entry_points(group=GROUP))))]


def is_reader(name: object) -> bool:
    """Whether there is a reader of that name; this imports no package."""
    return isinstance(name, str) and (name in READERS or name in _outside or name in reader_names())


def kind_of(name: str) -> Kind:
    """The Kind of a reader: built in, of an --import module, or of an installed package, which is imported now."""
    if name in READERS:
        return READERS[name]
    if name not in _outside:
        _outside[name] = _load_entry_point(name)
    return _outside[name]


def import_readers(module: str) -> None:
    """Add the readers in the table `READERS` of a module, which may be in the working folder."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        imported = import_module(module)
    except Exception as error:  # a stranger's module may raise anything
        raise ReaderImportError(f"--import {module}: it cannot be imported ({_in_one_line(error)})") from error
    table = getattr(imported, "READERS", None)
    if not isinstance(table, dict) or not all(isinstance(kind, Kind) for kind in table.values()):
        raise ReaderImportError(f"--import {module}: it has no table READERS with a Kind for each name of a reader")
    if taken := sorted(table.keys() & READERS.keys()):
        raise ReaderImportError(f"--import {module}: {', '.join(taken)} is built in; give the reader another name")
    _outside.update(table)


def _load_entry_point(name: str) -> Kind:
    """Load the reader that an installed package declares."""
    points = [*entry_points(group=GROUP, name=name)]
    if not points:
        raise ReaderImportError(f"there is no reader {name!r}; {did_you_mean(name, reader_names())}")
    packages = [f"the package {point.dist.name}" if point.dist else point.value for point in points]
    if len(points) > 1:
        raise ReaderImportError(f"the reader {name!r} is declared by {' and by '.join(packages)}; uninstall one")
    try:
        kind = points[0].load()
    except Exception as error:  # a stranger's module may raise anything
        problem = f"its {points[0].value} cannot be loaded ({_in_one_line(error)}); mend or uninstall it"
        raise ReaderImportError(f"the reader {name!r} is of {packages[0]}, and {problem}") from error
    if not isinstance(kind, Kind):
        problem = f"its {points[0].value} is no Kind, but of type {type(kind).__name__}; mend or uninstall it"
        raise ReaderImportError(f"the reader {name!r} is of {packages[0]}, and {problem}")
    return kind


def _in_one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def new_reader(
    name: str, config: Settings, words: Tensor, collator: Collator, *, generator: torch.Generator | None = None
) -> nn.Module:
    """A reader with initial weights, for the collator's alphabet and answer words; `words` is the word table."""
    return kind_of(name).reader(config, Basis(words, len(collator.alphabet), collator.answers, generator))
