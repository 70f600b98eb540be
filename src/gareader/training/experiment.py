"""Training runs from settings: corpora, vocabulary, word table and a reader with first weights."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gareader.core.claims import check_same, clean_unless, locked, read_claim, write_claim
from gareader.core.config import Settings, Table, changed, declared, flat, from_table, load_table
from gareader.core.distributed import ALONE, Group, joined, restarted
from gareader.core.errors import ConfigError, TrainingError, did_you_mean
from gareader.core.presets import settings_file
from gareader.data.addresses import is_prepared
from gareader.data.anonymity import mark
from gareader.data.arrays import TABLE
from gareader.data.batching import SPECIAL_WORDS, Collator
from gareader.data.examples import Example
from gareader.data.store import PreparedCorpus, Watch, prepared_once, unwatched
from gareader.data.vectors import check_width, word_table
from gareader.data.vocabulary import Alphabet
from gareader.readers.registry import is_reader, kind_of, new_reader, reader_names
from gareader.readers.settings import GATED_ATTENTION
from gareader.trained import models
from gareader.trained.folder import digest
from gareader.trained.model import Model
from gareader.trained.model import load as load_model
from gareader.training.engine import training_device
from gareader.training.run import Run, training_indices
from gareader.training.settings import SECTIONS, DataConfig, TrainConfig, check_sections
from gareader.training.widening import can_widen, widen

RUN_SETTINGS = "settings.json"
"""The resolved settings, in the run folder."""
SOURCES = "sources.json"
"""The checksums of the files that the run folder has prepared copies of."""


@dataclass(frozen=True)
class Experiment:
    """The settings of one run."""

    data: DataConfig
    reader: str
    """The reader's name."""
    reader_config: Settings
    train: TrainConfig

    @classmethod
    def from_table(cls, table: Table) -> "Experiment":
        """Read the tables [data], [reader] (with its name) and [train]."""
        name, kinds = sections(table)
        settings = {key: value for key, value in table.get("reader", {}).items() if key != "name"}
        return cls(
            from_table(DataConfig, table.get("data", {}), "data"),
            name,
            from_table(kinds["reader"], settings, "reader"),
            from_table(TrainConfig, table.get("train", {}), "train"),
        )

    def table(self) -> Table:
        """All settings, defaults included, in the form that `from_table` reads; settings that are None are left out."""
        table = {
            "data": asdict(self.data),
            "reader": {"name": self.reader, **asdict(self.reader_config)},
            "train": asdict(self.train),
        }
        return {section: {k: v for k, v in keys.items() if v is not None} for section, keys in table.items()}

    def run(self, folder: Path, *, resume: bool = False, watch: Watch = unwatched, group: Group = ALONE) -> Run:
        """Prepare a run in `folder`; with `resume`, continue the run there from its checkpoint.

        Where several processes train together, each of them calls this.
        """
        with clean_unless(lambda: resume or not group.first, lambda: [*folder.iterdir()] if folder.exists() else []):
            if group.first:
                self.claim(folder, resume)
            return self.prepared_run(folder, resume, watch, group)

    @contextmanager
    def opened(
        self, folder: Path, *, resume: bool = False, watch: Watch = unwatched, group: Group = ALONE
    ) -> Iterator[Run]:
        """Prepare or resume a run, as `run` does, whose folder is locked inside the `with` block.

        A run that torchrun has begun again is resumed.
        """
        again = any(group.all_gather(restarted()))
        resume = group.broadcast(resume or (again and is_begun(folder)))
        busy = "a run is going on here already; wait for it, or choose another --out"
        with locked(folder / "lock", busy) if group.first else nullcontext():
            yield self.run(folder, resume=resume, watch=watch, group=group)

    def prepared_run(self, folder: Path, resume: bool, watch: Watch, group: Group) -> Run:
        """Prepare the corpora, build the reader, and load the checkpoint if there is one to resume."""
        training_device(self.train, group)
        if self.data.vectors is not None:
            check_width(self.data.vectors, self.data.vector_width)  # before the long work
        with group.in_turn():  # rank 0 prepares first; other machines without a shared disk prepare their own copy
            folder.mkdir(parents=True, exist_ok=True)
            reuse = resume or not group.first
            training = self.corpus(self.data.train, folder / "train.arrow", reuse, watch)
            validation = self.corpus(self.data.validation, folder / "validation.arrow", reuse, watch)
        questions = self.questions_fingerprint(folder, training, validation, group)
        if not validation.answerable().any():
            problem = "no validation question has its answer in its document; look at it with gareader describe"
            raise TrainingError(f"{self.data.validation}: {problem}")
        answerable = training.answerable()
        indices = training_indices(answerable, self.train.fraction, self.train.seed)
        left_out = len(answerable) - int(answerable.sum())
        model = self.new_model(training, validation, {"settings": self.table(), "left_out": left_out})
        vectors = sha256(model.reader.state_dict()[TABLE].numpy()).hexdigest()
        run = Run(
            folder,
            model,
            self.train,
            Subset(training, indices),
            self.validation_sample(validation),
            training.document_lengths[indices],
            group=group,
            fingerprint=f"{questions} {vectors}",
        )
        if resume:
            run.load_state()
        return run

    def questions_fingerprint(
        self, folder: Path, training: PreparedCorpus, validation: PreparedCorpus, group: Group
    ) -> str:
        """The fingerprint of the questions; raises TrainingError where processes differ in settings or questions."""
        corpora = training, validation
        questions = sha256("\n".join((*training.words, *validation.words)).encode())
        questions.update("\n".join(corpus.checksum() for corpus in corpora).encode())
        settings = {**self.table(), "data": questions.hexdigest()}
        if len({*group.all_gather(json.dumps(settings, sort_keys=True))}) > 1:
            raise TrainingError(
                f"{folder}: the processes have other settings or other questions than each other; give the same on "
                "each machine, and remove what an earlier run has left in this folder on any but the first"
            )
        return questions.hexdigest()

    def claim(self, folder: Path, resume: bool) -> None:
        """Write the settings to the folder; with `resume`, check that the folder has the same ones."""
        file = folder / RUN_SETTINGS
        if not resume:
            if file.exists():
                way_out = "go on with --resume (in Python resume=True), or choose another --out"
                raise TrainingError(f"{folder}: there is a run already; {way_out}")
            write_claim(file, self.table())
            if sources := self.sources():
                write_claim(folder / SOURCES, sources)
            return
        nothing = f"{folder}: there is no run to resume here; begin it without --resume"
        before = Experiment.from_table(read_claim(file, nothing))
        way_out = "resume it with its own, or begin a new run in another folder"
        check_same(f"{folder}: the run there", self.changed(before), way_out)
        if (folder / SOURCES).exists():
            kept = read_claim(folder / SOURCES, f"{folder / SOURCES}: cannot be read; remove it to resume the run")
            for name, source in self.sources().items():
                if source != kept.get(name):
                    path, copy = getattr(self.data, name), folder / f"{name}.arrow"
                    other = f"it has changed since the run in {folder} began, which reads its copy {copy.name}"
                    way_out = f"begin a new run in another folder, or go on with data.{name} as it was"
                    raise TrainingError(f"{path}: {other}; {way_out}")

    def sources(self) -> dict[str, str]:
        """The checksums of the corpora that can be read and are not prepared."""
        sums = {}
        for name, path in {"train": self.data.train, "validation": self.data.validation}.items():
            with suppress(OSError):
                if not is_prepared(path):
                    sums[name] = checksum(Path(path))
        return sums

    def changed(self, before: "Experiment") -> list[str]:
        """The names of the settings in which two experiments differ."""
        return changed(flat(before.table()), flat(self.table()))

    def corpus(self, path: str, prepared: Path, reuse: bool, watch: Watch) -> PreparedCorpus:
        """Open a prepared corpus; prepare any other one in the run folder, or `reuse` the one that is there."""
        if not reuse:
            prepared.unlink(missing_ok=True)
        return PreparedCorpus.open(prepared_once(path, prepared, watch))

    def new_model(self, training: PreparedCorpus, validation: PreparedCorpus, notes: dict[str, Any]) -> Model:
        """The model before training: vocabulary, alphabet and a reader with its first weights."""
        data = self.data
        start = None if self.train.start is None else load_model(models.folder(self.train.start))
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
            copy_weights(reader, start, str(self.train.start))
        return Model(self.reader, reader, collator, notes)

    def validation_sample(self, validation: PreparedCorpus) -> "PreparedCorpus | Subset":
        """The validation split, or `train.validation_examples` questions of it, drawn by the seed."""
        count = self.train.validation_examples
        if count is None or count >= len(validation):
            return validation
        order = np.random.default_rng(self.train.seed).permutation(len(validation))
        return Subset(validation, np.sort(order[:count]))


def train(
    settings: "Experiment | Mapping[str, Mapping[str, Any]] | os.PathLike[str] | str",
    *,
    out: os.PathLike[str] | str | None = None,
    resume: bool = False,
    progress: Callable[[dict[str, Any], float], None] = lambda metrics, share: None,
) -> Run:
    """Train a reader, as `gareader train` does, and return the run: its `folder`, its `best` model, its `metrics`.

    `settings` is a preset or a TOML file, a dict of its sections data, reader and train, or an Experiment. `out` is the
    run's folder; if not given, it is in runs/ and has the name of the settings file, or of the reader. The run can be
    interrupted or killed at any time; with `resume` it goes on from its checkpoint. `progress` is called with each line
    of metrics, and the share of the longest possible run that is done.
    """
    name = None
    if isinstance(settings, os.PathLike | str):
        path = settings_file(os.fspath(settings))
        name, settings = path.stem, load_table(path)
    if not isinstance(settings, Experiment):
        settings = Experiment.from_table(with_paths_as_text(settings))
    folder = Path("runs") / (name or settings.reader) if out is None else Path(out)
    with joined() as group, settings.opened(folder, resume=resume, group=group) as run:
        run.on_metrics = lambda metrics: progress(metrics, run.progress)
        run.train()
    return run


def with_paths_as_text(table: Mapping[str, Any]) -> Table:
    """The tables of a settings file, whose paths Python may give as Path."""
    return {
        section: {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in keys.items()}
        if isinstance(keys, Mapping)
        else keys
        for section, keys in table.items()
    }


def copy_weights(reader: nn.Module, start: Model, name: str) -> None:
    """Copy all weights but the word table from a trained model, which may have fewer units or features."""
    weights, trained = reader.state_dict(), start.reader.state_dict()
    before: Any = getattr(start.reader, "config", None)
    after: Any = getattr(reader, "config", None)
    if can_widen(before, after):
        trained = widen(trained, weights, before, after)
    for key in sorted(weights.keys() | trained.keys()):
        shapes = [tuple(each[key].shape) if key in each else None for each in (weights, trained)]
        if key != TABLE and shapes[0] != shapes[1]:
            problem = f"its {key} has the shape {shapes[1]}, this reader's {shapes[0]}"
            way_out = "take the settings of [reader] and data.vector_width from its reader.json"
            raise TrainingError(f"train.start = {name!r}: {problem}; {way_out}")
    reader.load_state_dict(trained | {TABLE: weights[TABLE]})


def checksum(corpus: Path) -> str:
    """The checksum of a file; of a folder of many files, that of their names and sizes."""
    if not corpus.is_dir():
        return digest(corpus)
    with os.scandir(corpus) as files:
        return sha256(json.dumps(sorted((each.name, each.stat().st_size) for each in files)).encode()).hexdigest()


def is_begun(folder: Path) -> bool:
    return (folder / RUN_SETTINGS).exists()


def sections(table: Table) -> tuple[str, dict[str, type[Settings]]]:
    """The reader's name in these tables, and the settings class of each section."""
    check_sections(table)
    name = table.get("reader", {}).get("name", GATED_ATTENTION)
    if not is_reader(name):
        raise ConfigError(f"reader.name = {name!r} is not known; {did_you_mean(str(name), reader_names())}")
    return name, {**SECTIONS, "reader": kind_of(name).config}


def types(table: Table) -> dict[str, Any]:
    """The type of every setting of these tables, by names such as `train.seed`."""
    _, kinds = sections(table)
    return {f"{section}.{key}": value for section, kind in kinds.items() for key, value in declared(kind).items()}


@dataclass(frozen=True, eq=False)
class Subset(Sequence[Example]):
    """The examples of a corpus at some indices."""

    corpus: Sequence[Example]
    indices: NDArray[np.int64]

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
