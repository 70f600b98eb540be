"""The training loop: it can be killed at any moment and resumes to the bit."""

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor

from gareader.core.distributed import ALONE, Group
from gareader.core.errors import CheckpointError, ConfigError, TrainingError
from gareader.core.files import open_regular
from gareader.core.parsing import json_object
from gareader.core.whole import recover_folder
from gareader.data.batching import length_batches
from gareader.data.examples import Example
from gareader.measuring.evaluation import Report, answers, evaluate
from gareader.nn.tensors import Batch, tensors
from gareader.readers.registry import kind_of
from gareader.trained.folder import READER_JSON
from gareader.trained.model import Model, OnTorch, save
from gareader.trained.predictor import Answering, Predictor, load
from gareader.training import checkpoint
from gareader.training.checkpoint import Checkpoint, Position
from gareader.training.engine import Engine
from gareader.training.optimiser import Optimiser, row_tables
from gareader.training.settings import TrainConfig

STATE, METRICS, BEST, LAST = "state.safetensors", "metrics.jsonl", "best", "last"
"""In a run folder: the checkpoint, the metrics, the best model so far, and the model of the last update."""


@dataclass(eq=False, repr=False)
class Run:
    """One training run in its own folder.

    Several processes may share a run: each computes its part of every batch, all make the same updates, and only rank 0
    writes files.
    """

    folder: Path
    model: Model
    """With the reader to train."""
    config: TrainConfig
    training: Sequence[Example]
    validation: Sequence[Example]
    lengths: NDArray[np.int32]
    """The document lengths of the training examples."""
    group: Group = field(default=ALONE, kw_only=True)
    fingerprint: str = field(default="", kw_only=True)
    """That of questions and word vectors; a checkpoint with another fingerprint is refused."""
    on_metrics: Callable[[dict[str, Any]], None] = field(default=lambda metrics: None, kw_only=True)

    def __post_init__(self) -> None:
        self.reader = self.model.reader
        self.engine = Engine(kind_of(self.model.name), self.reader, self.config, self.group)
        self.weights = {name: p for name, p in self.reader.named_parameters() if p.requires_grad}
        self.optimiser = Optimiser(self.config, self.weights, row_tables(self.config, self.weights, self.group))
        self.moving_average = {
            name: weight.detach().clone() for name, weight in self.weights.items() if self.config.ema is not None
        }
        self.position = Position()
        self.window: list[dict[str, float]] = []  # metrics of the updates since the last line in the metrics file

    def __repr__(self) -> str:
        position = self.position
        best = f", best validation accuracy {position.best_accuracy:.1%}" if position.best_step else ""
        return f"<Run {str(self.folder)!r}: {position.step:,} updates{best}{', finished' * position.finished}>"

    @property
    def best(self) -> Answering:
        """The best model so far, loaded from the folder `best` of the run."""
        return load(self.folder / BEST)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The lines of the metrics, in order: of training, with `loss`, or of validation, `validation_accuracy`."""
        return metrics_of(self.folder) if (self.folder / METRICS).exists() else []

    @property
    def progress(self) -> float:
        """The share of the longest possible run that is done; patience may end the run earlier."""
        batches = -(-len(self.training) // self.config.batch_size)
        progress = self.position.step / (self.config.max_epochs * batches)
        if self.config.max_minutes is not None:
            progress = max(progress, self.position.seconds / (60 * self.config.max_minutes))
        return min(1.0, progress)

    def train(self, stop: Callable[[], bool] = lambda: False) -> Position:
        """Train until the recipe ends the run or `stop()` is true; the run is saved and can be resumed."""
        with on_threads(self.config.threads):
            return self.train_until(stop)

    def train_until(self, stop: Callable[[], bool]) -> Position:
        """Train on the current number of threads."""
        if not self.position.step:
            self.save_state()  # so that there is never a model without a state
        begun = monotonic() - self.position.seconds
        while not self.position.finished:
            batches = length_batches(self.lengths, self.config.batch_size, seed=[self.config.seed, self.position.epoch])
            for members, slices in self.prefetch(batches[self.position.batch :]):
                self.position = replace(self.position, seconds=self.group.broadcast(monotonic() - begun))
                self.window.append(self.update(members, slices))
                budget = self.config.max_minutes
                out_of_time = budget is not None and self.position.seconds >= 60 * budget
                epoch_ends = self.position.batch == len(batches)
                log_due = self.position.step % self.config.log_every == 0 or epoch_ends or out_of_time
                validation_due = self.position.step % self.config.validate_every == 0 or epoch_ends or out_of_time
                if log_due:
                    self.log(window_means(self.window))
                    self.window = []
                if validation_due:
                    report = self.validate()
                    if epoch_ends:
                        self.end_epoch()
                    if out_of_time:
                        self.position = replace(self.position, finished=True)
                    if self.position.finished:
                        self.save_model(LAST, report)
                stopped = any(self.group.all_gather(stop()))
                if log_due or validation_due or stopped:
                    self.save_state()
                if out_of_time or stopped:
                    return self.position
        return self.position

    def prefetch(self, batches: Sequence[NDArray[np.int64]]) -> Iterator[tuple[NDArray[np.int64], list[Batch]]]:
        """Yield the batches as this process's slices; a thread collates the next batch during each update."""

        def prepare(members: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Batch]]:
            draw = 1 + self.position.epoch
            return members, [self.collate(part, draw) for part in self.engine.slices(members)]

        with ThreadPoolExecutor(1) as worker:
            upcoming = None
            for indices in batches:
                current, upcoming = upcoming, worker.submit(prepare, indices)
                if current is not None:
                    yield current.result()
            if upcoming is not None:
                yield upcoming.result()

    def collate(self, members: NDArray[np.int64], draw: int) -> Batch:
        """The batch of these training questions."""
        return tensors(self.model.collator([self.training[i] for i in members], draw, fresh=self.config.fresh_names))

    def update(self, members: NDArray[np.int64], slices: list[Batch]) -> dict[str, float]:
        """Make one step of the optimiser and return its metrics."""
        position, config = self.position, self.config
        rate = config.rate(position.epoch, self.progress)
        self.reader.train()
        self.optimiser.zero_grad()
        metrics = self.engine.gradients(slices, len(members), position.step)
        norm = self.optimiser.clip().item()
        if not (isfinite(metrics.loss) and isfinite(norm)):
            names = ", ".join(self.training[i].id for i in members)
            raise TrainingError(
                f"the loss is {metrics.loss} and the gradient's norm {norm} at update {position.step + 1}; "
                f"nothing was overwritten. Look at these examples, or lower train.learning_rate: {names}"
            )
        self.optimiser.step(rate)
        self.update_moving_average()
        self.position = replace(
            position, batch=position.batch + 1, step=position.step + 1, examples=position.examples + len(members)
        )
        return {**asdict(metrics), "gradient_norm": norm, "learning_rate": rate}

    def update_moving_average(self) -> None:
        """Average in the new weights; the decay begins small, so that the first weights soon count for nothing."""
        if self.config.ema is not None:
            decay = min(self.config.ema, (1 + self.position.step) / (10 + self.position.step))
            for name, weight in self.weights.items():
                self.moving_average[name].lerp_(weight.detach(), 1 - decay)

    @contextmanager
    def with_moving_average(self) -> Iterator[None]:
        """Give the reader the moving average of the weights, if there is one, inside the `with` block."""
        plain = {name: self.weights[name].detach().clone() for name in self.moving_average}
        self.set_weights(self.moving_average)
        try:
            yield
        finally:
            self.set_weights(plain)

    def set_weights(self, values: Mapping[str, Tensor]) -> None:
        """Copy values into the reader's weights."""
        with torch.no_grad():
            for name, value in values.items():
                self.weights[name].copy_(value)

    def validate(self) -> Report:
        """Evaluate the reader on the validation split; save it as `best` if it is better than all before."""
        self.optimiser.bring_up_to_date()
        if self.moving_average:  # to compare: the weights without the average
            plain = self.evaluate_reader()
            self.log({"plain_validation_accuracy": plain.accuracy, "plain_validation_loss": plain.loss})
        with self.with_moving_average():
            report = self.evaluate_reader()
        self.log({f"validation_{name}": value for name, value in asdict(report).items()})
        if report.accuracy > self.position.best_accuracy:
            position = self.position
            self.position = replace(
                position, best_accuracy=report.accuracy, best_step=position.step, best_epoch=position.epoch
            )
            self.save_model(BEST, report)
        return report

    def evaluate_reader(self) -> Report:
        """The report on the reader with its current weights, on the validation split."""
        predictor = Predictor(OnTorch(self.reader), self.model.collator)
        return evaluate(answers(predictor, self.validation, self.group, batch_size=self.config.batch_size))

    def save_model(self, name: str, report: Report) -> None:
        """Write the reader, with the moving average of its weights if there is one, to a folder of the run."""
        if self.group.first:
            notes = {**self.model.notes, "validation": asdict(report), "trained": asdict(self.position)}
            with self.with_moving_average():
                save(replace(self.model, notes=notes), self.folder / name)

    def end_epoch(self) -> None:
        """Go to the next epoch; finish after the last one, or after `patience` epochs without a new best."""
        position = self.position
        out_of_patience = position.epoch - position.best_epoch >= self.config.patience
        finished = position.epoch + 1 >= self.config.max_epochs or out_of_patience
        self.position = replace(position, epoch=position.epoch + 1, batch=0, finished=finished)

    def log(self, metrics: dict[str, Any]) -> None:
        """Append a line to the metrics file."""
        if not self.group.first:
            return
        position = self.position
        line = {"step": position.step, "epoch": position.epoch + 1, "examples": position.examples, **metrics}
        line["examples_per_second"] = round(position.examples / max(position.seconds, 1e-9), 2)
        path = self.folder / METRICS
        try:
            with path.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
                self.position = replace(position, metrics_bytes=file.tell())
        except OSError as error:
            problem = f"{path}: the metrics cannot be written ({error.strerror}); free some room and resume"
            raise CheckpointError(problem) from error
        self.on_metrics(line)

    def state(self) -> dict[str, Tensor]:
        """The weights, the optimiser's state of each, and the moving average, by name."""
        tensors: dict[str, Tensor] = {}
        for name, weight in self.weights.items():
            tensors[f"weights/{name}"] = weight.detach()
            for key, value in self.optimiser.state(name).items():
                tensors[f"optimiser/{key}/{name}"] = value
        return tensors | {f"average/{name}": value for name, value in self.moving_average.items()}

    def set_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore weights, optimiser and moving average from what `state` returned."""
        self.set_weights({name: tensors[f"weights/{name}"] for name in self.weights})
        self.moving_average = {name: tensors[f"average/{name}"].to(self.engine.device) for name in self.moving_average}
        states: dict[str, dict[str, Tensor]] = {name: {} for name in self.weights}
        for entry, tensor in tensors.items():
            kind, _, rest = entry.partition("/")
            if kind == "optimiser":
                key, _, name = rest.partition("/")
                states[name][key] = tensor.to(self.engine.device)
        for name, state in states.items():
            self.optimiser.set_state(name, state)

    def save_state(self) -> None:
        """Write the checkpoint."""
        if not self.group.first:
            return
        path = self.folder / STATE
        try:
            with (self.folder / METRICS).open("ab") as metrics:  # the checkpoint relies on their length
                os.fsync(metrics.fileno())
            checkpoint.write(Checkpoint(self.position, self.window, self.state()), path, self.fingerprint)
        except (OSError, SafetensorError) as error:
            way_out = "the one before is still there: free some room and resume"
            raise CheckpointError(f"{path}: the state cannot be written ({error}); {way_out}") from error

    def load_state(self) -> None:
        """Restore the checkpoint, and cut the metrics to its length; rank 0 reads and broadcasts it."""
        saved = self.saved_state() if self.group.first else Checkpoint()
        self.position = self.group.broadcast(saved.position)
        self.window = self.group.broadcast(saved.window)
        if tensors := self.group.broadcast_tensors(saved.tensors):
            self.set_state(tensors)

    @property
    def best_is_gone(self) -> bool:
        """Whether the best model of the position is not in the folder."""
        return bool(self.position.best_step) and not (self.folder / BEST / READER_JSON).is_file()

    def saved_state(self) -> Checkpoint:
        """The checkpoint in the folder; an empty one if the run was killed before the first one."""
        recover_folder(self.folder / BEST)
        recover_folder(self.folder / LAST)
        path = self.folder / STATE
        if not path.exists():
            if (self.folder / BEST).exists():
                raise CheckpointError(f"{path}: the state is gone; there is a model, but the run cannot be resumed")
            (self.folder / METRICS).unlink(missing_ok=True)
            return Checkpoint()
        if not path.is_file():
            raise CheckpointError(f"{path}: this is no file, so the run cannot be resumed; begin a new one")
        try:
            saved = checkpoint.read(path, self.fingerprint)
            self.set_state(saved.tensors)
        except (SafetensorError, LookupError, TypeError, RuntimeError, ValueError, ConfigError, OSError) as error:
            way_out = "Resume with the settings of the run, or begin a new one in another folder"
            problem = f"this state does not fit the run ({error}); were settings changed since? {way_out}"
            raise CheckpointError(f"{path}: {problem}") from error
        with (self.folder / METRICS).open("ab") as metrics:
            metrics.truncate(min(saved.position.metrics_bytes, metrics.tell()))
        return replace(saved, position=self.without_lost_best(saved.position))

    def without_lost_best(self, position: Position) -> Position:
        """Tell if the best model of the run is gone, and forget it, so that the best of the rest is kept."""
        if position.finished or not position.best_step or (self.folder / BEST / READER_JSON).is_file():
            return position
        lost = f"accuracy {position.best_accuracy:.1%}, update {position.best_step:,}"
        warnings.warn(
            f"{self.folder / BEST}: the best model so far ({lost}) is gone; the best from here on is kept instead",
            stacklevel=3,
        )
        return replace(position, best_accuracy=-1.0, best_step=0)


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """Read the lines of a run's metrics; an incomplete last line is left out."""
    with open_regular(folder / METRICS) as file:
        return [json_object(row) for row in file.read().decode().split("\n")[:-1]]


@contextmanager
def on_threads(number: int | None) -> Iterator[None]:
    """Set torch's number of threads inside the `with` block; None leaves it as it is."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def window_means(window: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each metric over the updates of a window; the learning rate is that of the last update."""
    means = {name: sum(line[name] for line in window) / len(window) for name in window[0]}
    return {**means, "learning_rate": window[-1]["learning_rate"]}


def training_indices(answerable: NDArray[np.bool_], fraction: float, seed: int) -> NDArray[np.int64]:
    """Indices of the training questions: a fraction of the answerable ones, drawn by the seed."""
    indices = np.flatnonzero(answerable)
    if not len(indices):
        raise TrainingError("no training question has its answer in its document; look at it with gareader describe")
    if fraction == 1:
        return indices
    count = max(1, round(fraction * len(indices)))
    return np.sort(np.random.default_rng(seed).permutation(indices)[:count])
