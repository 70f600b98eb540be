"""A training run from its settings: corpora, vocabulary, word table and reader, ready to train."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gareader import checkpoint, pretrained
from gareader.anonymity import Way, mark
from gareader.batching import SPECIAL_WORDS, Collator
from gareader.checkpoint import Checkpoint
from gareader.claims import check_same, clean_unless, read_claim, write_claim
from gareader.config import Count, Positive, Settings, Table, changed, declared, flat, from_table, recorded
from gareader.distributed import ALONE, Group
from gareader.engine import chosen_device
from gareader.errors import ConfigError, TrainingError, did_you_mean
from gareader.examples import Example
from gareader.nn.embedding import TABLE
from gareader.readers import is_reader, kind_of, new_reader, reader_names
from gareader.recipe import TrainConfig
from gareader.store import PreparedCorpus, Watch, prepared_once
from gareader.training import Run, usable
from gareader.vectors import check_width, word_table
from gareader.vocabulary import Alphabet

SETTINGS = "settings.json"
"""The resolved settings, in the run folder."""


@dataclass(frozen=True)
class DataConfig(Settings):
    """What to train on; paths are relative to where the command runs."""

    train: str
    """Training questions: a file or folder in any known format, or a prepared corpus."""
    validation: str
    """Questions that choose the best reader."""
    vectors: str | None = None
    """GloVe or word2vec file; without one every word gets a random vector."""
    vector_width: Count = 100
    """Components of a word vector."""
    all_vectors: bool = False
    """Whether the word table holds every word of the vector file, for text of other kinds than the corpus."""
    unknown_scale: Positive = 1.0
    """Standard deviation of the components of a random vector; GloVe's most frequent words have about 0.5."""
    anonymity: Way = "none"
    """How candidates hide behind marks @entityN: not (none), permuted in every epoch, or ordered by occurrence."""


@dataclass(frozen=True)
class Experiment:
    """The settings of one run."""

    data: DataConfig
    reader: str
    """Its name."""
    reader_config: Settings
    train: TrainConfig

    @classmethod
    def from_table(cls, table: Table) -> "Experiment":
        """From the tables [data], [reader] (with its name) and [train]."""
        name, kinds = sections(table)
        settings = {key: value for key, value in table.get("reader", {}).items() if key != "name"}
        return cls(
            from_table(DataConfig, table.get("data", {}), "data"),
            name,
            from_table(kinds["reader"], settings, "reader"),
            from_table(TrainConfig, table.get("train", {}), "train"),
        )

    @classmethod
    def recorded(cls, table: Table) -> "Experiment":
        """From the tables that an earlier run wrote down: a setting that did not exist then has its default."""
        return cls.from_table({section: recorded(settings, section) for section, settings in table.items()})

    def table(self) -> Table:
        """All settings, defaults included, as `from_table` takes them; what is not set is left out."""
        table = {
            "data": asdict(self.data),
            "reader": {"name": self.reader, **asdict(self.reader_config)},
            "train": asdict(self.train),
        }
        return {section: {k: v for k, v in keys.items() if v is not None} for section, keys in table.items()}

    def run(
        self,
        folder: Path,
        *,
        resume: bool = False,
        watch: Watch = lambda examples, label: examples,
        group: Group = ALONE,
    ) -> Run:
        """Make everything ready in `folder`; with `resume`, at the place where the run there was left.

        Where several processes train together, all call this.
        """
        with clean_unless(lambda: resume or not group.first, lambda: [*folder.iterdir()] if folder.exists() else []):
            if group.first:
                self.claim(folder, resume)
            return self.made_ready(folder, resume, watch, group)

    def run_or_resume(self, folder: Path) -> Run:
        """The run in the folder, from its beginning or from where it was left."""
        return self.run(folder, resume=is_begun(folder))

    def made_ready(self, folder: Path, resume: bool, watch: Watch, group: Group) -> Run:
        """Corpora prepared, reader built, and the state read back."""
        chosen_device(self.train, group)
        if self.data.vectors is not None:
            check_width(self.data.vectors, self.data.vector_width)  # before the long work
        with group.in_turn():  # what the first process prepares, the others find, or prepare on their own machine
            folder.mkdir(parents=True, exist_ok=True)
            again = resume or not group.first
            training = self.corpus(self.data.train, folder / "train.arrow", again, watch)
            validation = self.corpus(self.data.validation, folder / "validation.arrow", again, watch)
        recipe = self.agree(folder, training, validation, group)
        if not validation.answerable().any():
            raise TrainingError(
                f"{self.data.validation}: no validation question has its answer in its document; "
                "look at it with gareader describe"
            )
        answerable = training.answerable()
        chosen = usable(answerable, self.train.fraction, self.train.seed)
        left_out = len(answerable) - int(answerable.sum())
        untrained = self.untrained(training, validation, {"settings": self.table(), "left_out": left_out})
        run = Run(
            folder,
            untrained,
            self.train,
            Chosen(training, chosen),
            self.validation_sample(validation),
            training.document_lengths[chosen],
            group=group,
            made_of=f"{recipe} {sha256(untrained.reader.state_dict()[TABLE].numpy()).hexdigest()}",
        )
        if resume:
            run.load_state()
        return run

    def agree(self, folder: Path, training: PreparedCorpus, validation: PreparedCorpus, group: Group) -> str:
        """Make sure that all processes have the same recipe and the same questions; returns what tells these."""
        questions = sha256("\n".join((*training.words, *validation.words)).encode())
        for corpus in (training, validation):
            questions.update(corpus.document_lengths.tobytes())
        recipe = {**self.table(), "data": questions.hexdigest()}
        if len({*group.everyones(json.dumps(recipe, sort_keys=True))}) > 1:
            raise TrainingError(
                f"{folder}: the processes have other settings or other questions than each other; give the same on "
                "each machine, and remove what an earlier run has left in this folder on any but the first"
            )
        return questions.hexdigest()

    def claim(self, folder: Path, resume: bool) -> None:
        """Make the folder this run's own, or make sure that it is."""
        file = folder / SETTINGS
        if not resume:
            if file.exists():
                raise TrainingError(f"{folder}: there is a run already; go on with --resume, or choose another --out")
            write_claim(file, self.table())
            return
        nothing = f"{folder}: there is no run to resume here; begin it without --resume"
        before = Experiment.recorded(read_claim(file, nothing))
        way_out = "resume it with its own, or begin a new run in another folder"
        check_same(f"{folder}: the run there", self.changed(before), way_out)

    def changed(self, before: "Experiment") -> list[str]:
        """The names of the settings that another one has otherwise."""
        return changed(flat(before.table()), flat(self.table()))

    def corpus(self, path: str, prepared: Path, again: bool, watch: Watch) -> PreparedCorpus:
        """The corpus, memory-mapped: as it is if it is prepared, else prepared once in the run folder."""
        if not again:
            prepared.unlink(missing_ok=True)
        return PreparedCorpus.open(prepared_once(path, prepared, watch))

    def untrained(self, training: PreparedCorpus, validation: PreparedCorpus, notes: dict[str, Any]) -> Checkpoint:
        """The reader with its first weights."""
        data, start = self.data, self.start()
        seed = start.collator.seed if start else self.train.seed  # of the vectors of unknown words
        marks = 0 if data.anonymity == "none" else max(training.most_candidates, validation.most_candidates)
        known = dict.fromkeys([*SPECIAL_WORDS, *map(mark, range(marks)), *training.words, *validation.words])
        table = word_table(
            known,
            data.vectors,
            width=data.vector_width,
            seed=seed,
            every_vector=data.all_vectors,
            unknown_scale=data.unknown_scale,
        )
        alphabet = start.collator.alphabet if start else Alphabet.of(table.vocabulary)
        generator = torch.Generator().manual_seed(self.train.seed)
        collator = Collator(
            table.vocabulary,
            alphabet,
            width=data.vector_width,
            seed=seed,
            pretrained=table.pretrained,
            anonymity=data.anonymity,
            marks=marks,
            unknown_scale=data.unknown_scale,
        )
        words = torch.from_numpy(table.matrix)
        reader = new_reader(self.reader, self.reader_config, words, collator, generator=generator)
        if start:
            take_weights(reader, start, str(self.train.start))
        return Checkpoint(self.reader, reader, collator, notes)

    def start(self) -> Checkpoint | None:
        """The trained reader whose weights are the first ones."""
        return None if self.train.start is None else checkpoint.load(pretrained.folder(self.train.start))

    def validation_sample(self, validation: PreparedCorpus) -> "PreparedCorpus | Chosen":
        """The validation questions to use."""
        count = self.train.validation_examples
        if count is None or count >= len(validation):
            return validation
        order = np.random.default_rng(self.train.seed).permutation(len(validation))
        return Chosen(validation, np.sort(order[:count]))


def take_weights(reader: nn.Module, start: Checkpoint, name: str) -> None:
    """Give the reader the weights of a trained one, all but the word table."""
    weights, trained = reader.state_dict(), start.reader.state_dict()
    for key in sorted(weights.keys() | trained.keys()):
        shapes = [tuple(each[key].shape) if key in each else None for each in (weights, trained)]
        if key != TABLE and shapes[0] != shapes[1]:
            raise TrainingError(
                f"train.start = {name!r}: its {key} has the shape {shapes[1]}, this reader's {shapes[0]}; "
                "take the settings of [reader] and data.vector_width from its reader.json"
            )
    reader.load_state_dict(trained | {TABLE: weights[TABLE]})


def is_begun(folder: Path) -> bool:
    """Whether there is a run in the folder."""
    return (folder / SETTINGS).exists()


def sections(table: Table) -> tuple[str, dict[str, type[Settings]]]:
    """The name of the reader of these tables, and the settings that each section can have."""
    kinds: dict[str, type[Settings]] = {"data": DataConfig, "reader": Settings, "train": TrainConfig}
    for section, keys in table.items():
        if section not in kinds:
            raise ConfigError(f"[{section}] is no section; {did_you_mean(section, kinds)}")
        if not isinstance(keys, dict):
            raise ConfigError(f"{section} = {keys!r} is no section; write its settings under [{section}]")
    name = table.get("reader", {}).get("name", "gated-attention")
    if not is_reader(name):
        raise ConfigError(f"reader.name = {name!r} is not known; {did_you_mean(str(name), reader_names())}")
    return name, {**kinds, "reader": kind_of(name).config}


def types(table: Table) -> dict[str, Any]:
    """The type of every setting that these tables can have, by names such as `train.seed`."""
    _, kinds = sections(table)
    return {f"{section}.{key}": value for section, kind in kinds.items() for key, value in declared(kind).items()}


class Chosen(Sequence[Example]):
    """Some examples of a corpus, by their indices."""

    def __init__(self, corpus: Sequence[Example], indices: NDArray[np.int64]) -> None:
        self.corpus = corpus
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        if isinstance(index, slice):
            return [self.corpus[int(i)] for i in self.indices[index]]
        return self.corpus[int(self.indices[index])]
