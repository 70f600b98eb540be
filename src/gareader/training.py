"""Training: the paper's recipe, as a loop that can be killed at any moment and resumed to the bit."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from gareader.batching import Batch, length_batches
from gareader.checkpoint import Checkpoint, save
from gareader.distributed import ALONE, Group
from gareader.engine import Engine
from gareader.errors import CheckpointError, TrainingError
from gareader.evaluation import Report, answers, evaluate
from gareader.examples import Example
from gareader.predictor import Predictor
from gareader.readers import kind_of
from gareader.recipe import TrainConfig
from gareader.whole import recover_folder, whole_file

STATE, METRICS, BEST = "state.safetensors", "metrics.jsonl", "best"
"""In a run folder: where training stands, what was measured, and the best reader so far."""


@dataclass(frozen=True)
class Position:
    """Where a run stands; with the weights and the optimiser's moments, all it needs to go on."""

    epoch: int = 0
    batch: int = 0
    """Batches of this epoch that are done."""
    step: int = 0
    """Updates done in all."""
    examples: int = 0
    best_accuracy: float = -1.0
    best_step: int = 0
    best_epoch: int = 0
    metrics_bytes: int = 0
    """Length of the metrics file; what a killed run wrote after that is cut off."""
    seconds: float = 0.0
    finished: bool = False


class Run:
    """One training run, in a folder of its own.

    Several processes may do it together: each computes its part of every batch, all make the same updates, and the
    first one alone writes.
    """

    def __init__(
        self,
        folder: Path,
        checkpoint: Checkpoint,
        config: TrainConfig,
        training: Sequence[Example],
        validation: Sequence[Example],
        lengths: NDArray[np.int32],
        *,
        group: Group = ALONE,
        made_of: str = "",
        on_metrics: Callable[[dict[str, Any]], None] = lambda metrics: None,
    ) -> None:
        """`checkpoint` is the reader to train, `lengths` the document lengths of the training examples.

        `made_of` tells questions and word vectors from others; a state is only taken up with the same.
        """
        self.folder = folder
        self.checkpoint = checkpoint
        self.reader = checkpoint.reader
        self.config = config
        self.training = training
        self.validation = validation
        self.lengths = lengths
        self.group = group
        self.made_of = made_of
        self.on_metrics = on_metrics
        self.engine = Engine(kind_of(checkpoint.name), self.reader, config, group)
        self.weights = {name: p for name, p in self.reader.named_parameters() if p.requires_grad}
        self.optimiser = config.optimiser_of(self.weights)
        self.averages = {} if config.ema is None else {name: w.detach().clone() for name, w in self.weights.items()}
        self.position = Position()
        self.window: list[dict[str, float]] = []  # what was measured since the last line of metrics

    @property
    def share_done(self) -> float:
        """How much of the run is done if it goes to the end; it may stop earlier."""
        batches = -(-len(self.training) // self.config.batch_size)
        share = self.position.step / (self.config.max_epochs * batches)
        if self.config.max_minutes is not None:
            share = max(share, self.position.seconds / (60 * self.config.max_minutes))
        return min(1.0, share)

    def train(self, stop: Callable[[], bool] = lambda: False) -> Position:
        """Train until the recipe says stop, or `stop()` does; then the state is saved and training can be resumed."""
        with on_threads(self.config.threads):
            return self.until(stop)

    def until(self, stop: Callable[[], bool]) -> Position:
        """The same, on the threads that there are."""
        if not self.position.step:
            self.save_state()  # so that a reader is never there without a state
        begun = monotonic() - self.position.seconds
        while not self.position.finished:
            batches = length_batches(self.lengths, self.config.batch_size, seed=[self.config.seed, self.position.epoch])
            for members, slices in self.prefetched(batches[self.position.batch :]):
                self.position = replace(self.position, seconds=self.group.from_first(monotonic() - begun))
                self.window.append(self.update(members, slices))
                last = self.position.batch == len(batches)
                late = self.config.max_minutes is not None and self.position.seconds >= 60 * self.config.max_minutes
                logs = self.position.step % self.config.log_every == 0 or last or late
                validates = self.position.step % self.config.validate_every == 0 or last or late
                if logs:
                    self.log(averages(self.window))
                    self.window = []
                if validates:
                    self.validate()
                if last:
                    self.end_epoch()
                if late:
                    self.position = replace(self.position, finished=True)
                stopped = any(self.group.everyones(stop()))
                if logs or validates or stopped:
                    self.save_state()
                if late or stopped:
                    return self.position
        return self.position

    def prefetched(self, batches: Sequence[NDArray[np.int64]]) -> Iterator[tuple[NDArray[np.int64], list[Batch]]]:
        """The batches as this process's slices, each made ready while the one before is computed."""

        def ready(members: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Batch]]:
            draw = 1 + self.position.epoch
            slices = self.engine.slices(members)
            return members, [self.collated(part, draw) for part in slices]

        with ThreadPoolExecutor(1) as worker:
            upcoming = None
            for indices in batches:
                current, upcoming = upcoming, worker.submit(ready, indices)
                if current is not None:
                    yield current.result()
            if upcoming is not None:
                yield upcoming.result()

    def collated(self, members: NDArray[np.int64], draw: int) -> Batch:
        """These training questions as tensors."""
        return self.checkpoint.collator([self.training[i] for i in members], draw, fresh=self.config.fresh_names)

    def update(self, members: NDArray[np.int64], slices: list[Batch]) -> dict[str, float]:
        """One step of the optimiser; returns what was measured on the way."""
        position, config = self.position, self.config
        rate = config.rate(position.epoch, self.share_done)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.reader.train()
        self.optimiser.zero_grad()
        measured = self.engine.gradients(slices, len(members), position.step)
        norm = config.clipped(self.weights).item()
        if not (isfinite(measured.loss) and isfinite(norm)):
            names = ", ".join(self.training[i].id for i in members)
            raise TrainingError(
                f"the loss is {measured.loss} and the gradient's norm {norm} at update {position.step + 1}; "
                f"nothing was overwritten. Look at these examples, or lower train.learning_rate: {names}"
            )
        self.optimiser.step()
        self.follow()
        self.position = replace(
            position, batch=position.batch + 1, step=position.step + 1, examples=position.examples + len(members)
        )
        return {**asdict(measured), "gradient_norm": norm, "learning_rate": rate}

    def follow(self) -> None:
        """Move the averages a little towards the weights; at first quickly, so that the first weights are forgotten."""
        if self.config.ema is not None:
            past = min(self.config.ema, (1 + self.position.step) / (10 + self.position.step))
            for name, weight in self.weights.items():
                self.averages[name].lerp_(weight.detach(), 1 - past)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Meanwhile the reader has the averaged weights, if there are any."""
        kept = {name: self.weights[name].detach().clone() for name in self.averages}
        self.set_weights(self.averages)
        try:
            yield
        finally:
            self.set_weights(kept)

    def set_weights(self, values: Mapping[str, Tensor]) -> None:
        """Give the reader other weights."""
        with torch.no_grad():
            for name, value in values.items():
                self.weights[name].copy_(value)

    def validate(self) -> None:
        """Measure the reader on the validation questions and keep it if it is the best so far."""
        if self.averages:  # what the average is worth
            plain = self.measured()
            self.log({"plain_validation_accuracy": plain.accuracy, "plain_validation_loss": plain.loss})
        with self.averaged():
            report = self.measured()
            self.log({f"validation_{name}": value for name, value in asdict(report).items()})
            if report.accuracy > self.position.best_accuracy:
                position = self.position
                self.position = replace(
                    position, best_accuracy=report.accuracy, best_step=position.step, best_epoch=position.epoch
                )
                notes = {**self.checkpoint.notes, "validation": asdict(report), "trained": asdict(self.position)}
                if self.group.first:
                    save(replace(self.checkpoint, notes=notes), self.folder / BEST)

    def measured(self) -> Report:
        """The reader as it is now, on the validation questions."""
        predictor = Predictor(self.reader, self.checkpoint.collator)
        return evaluate(answers(predictor, self.validation, self.group, batch_size=self.config.batch_size))

    def end_epoch(self) -> None:
        """Go to the next epoch, or finish: after the last, or when there was no new best for too long."""
        position = self.position
        waited = position.epoch - position.best_epoch >= self.config.patience
        over = position.epoch + 1 >= self.config.max_epochs or waited
        self.position = replace(position, epoch=position.epoch + 1, batch=0, finished=over)

    def log(self, measured: dict[str, Any]) -> None:
        """Append a line to the metrics."""
        if not self.group.first:
            return
        position = self.position
        line = {"step": position.step, "epoch": position.epoch + 1, "examples": position.examples, **measured}
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
        """The weights, the optimiser's numbers for each, and the averages, by name."""
        tensors: dict[str, Tensor] = {}
        for name, weight in self.weights.items():
            tensors[f"weights/{name}"] = weight.detach()
            for key, value in self.optimiser.state.get(weight, {}).items():
                if value is not None:  # a momentum that is not used
                    tensors[f"optimiser/{key}/{name}"] = value
        return tensors | {f"average/{name}": value for name, value in self.averages.items()}

    def set_state(self, tensors: Mapping[str, Tensor]) -> None:
        """Go back to these."""
        self.set_weights({name: tensors[f"weights/{name}"] for name in self.weights})
        self.averages = {name: tensors[f"average/{name}"].to(self.engine.device) for name in self.averages}
        for entry, tensor in tensors.items():
            kind, _, rest = entry.partition("/")
            if kind == "optimiser":
                key, _, name = rest.partition("/")
                self.optimiser.state[self.weights[name]][key] = tensor.to(self.engine.device)

    def save_state(self) -> None:
        """Write the state beside the old one, then put it in its place: a torn write leaves the old one usable."""
        if not self.group.first:
            return
        target = self.folder / STATE
        metadata = {
            "position": json.dumps(asdict(self.position)),
            "window": json.dumps(self.window),
            "made_of": self.made_of,
        }
        try:
            with whole_file(target, sole=True) as new:
                save_file(self.state(), new, metadata)
                with (self.folder / METRICS).open("ab") as metrics:  # the state says how long they are
                    os.fsync(metrics.fileno())
        except (OSError, SafetensorError) as error:
            raise CheckpointError(
                f"{target}: the state cannot be written ({error}); the one before is still there: "
                "free some room and resume"
            ) from error

    def load_state(self) -> None:
        """Go back to the saved state, and to the metrics of that moment; the first process tells the others."""
        position, window, tensors = self.saved_state() if self.group.first else ({}, [], {})
        self.position = Position(**self.group.from_first(position))
        self.window = self.group.from_first(window)
        if tensors := self.group.tensors_from_first(tensors):
            self.set_state(tensors)

    def saved_state(self) -> tuple[dict[str, Any], list[dict[str, float]], dict[str, Tensor]]:
        """What is in the run's folder: nothing, if the run was killed before it had written a state."""
        recover_folder(self.folder / BEST)
        path = self.folder / STATE
        if not path.exists():
            if (self.folder / BEST).exists():
                raise CheckpointError(f"{path}: the state is gone; the run's reader is there, but it cannot go on")
            (self.folder / METRICS).unlink(missing_ok=True)
            return {}, [], {}
        try:
            with safe_open(path, framework="pt") as file:
                if file.metadata().get("made_of", self.made_of) != self.made_of:
                    raise ValueError("the questions or the word vectors are others than before")
                position = json.loads(file.metadata()["position"])
                window = json.loads(file.metadata()["window"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            self.set_state(tensors)
            Position(**position)
        except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"{path}: this state does not fit the run ({error}); were settings changed since? "
                "Resume with the settings of the run, or begin a new one in another folder"
            ) from error
        with (self.folder / METRICS).open("ab") as metrics:
            metrics.truncate(min(position["metrics_bytes"], metrics.tell()))
        return position, window, tensors


@contextmanager
def on_threads(number: int | None) -> Iterator[None]:
    """Meanwhile torch computes on so many threads; on as many as before if None."""
    before = torch.get_num_threads()
    torch.set_num_threads(number or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def averages(window: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each number over some updates; the learning rate is the last."""
    means = {name: sum(line[name] for line in window) / len(window) for name in window[0]}
    return {**means, "learning_rate": window[-1]["learning_rate"]}


def usable(answerable: NDArray[np.bool_], fraction: float, seed: int) -> NDArray[np.int64]:
    """The examples to train on: a share of those whose answer is in their document, chosen by the seed."""
    able = np.flatnonzero(answerable)
    if not len(able):
        raise TrainingError("no training question has its answer in its document; look at it with gareader describe")
    if fraction == 1:
        return able
    count = max(1, round(fraction * len(able)))
    return np.sort(np.random.default_rng(seed).permutation(able)[:count])
