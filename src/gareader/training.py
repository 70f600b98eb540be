"""Training: the paper's recipe, as a loop that can be killed at any moment and resumed to the bit."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
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
from gareader.checkpoint import Checkpoint, recover_folder, save
from gareader.errors import CheckpointError, TrainingError
from gareader.evaluation import Report, evaluate
from gareader.examples import Example
from gareader.predictor import Predictor
from gareader.readers import READERS
from gareader.recipe import TrainConfig

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
    """One training run, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        checkpoint: Checkpoint,
        config: TrainConfig,
        training: Sequence[Example],
        validation: Sequence[Example],
        lengths: NDArray[np.int32],
        *,
        on_metrics: Callable[[dict[str, Any]], None] = lambda metrics: None,
    ) -> None:
        """`checkpoint` is the reader to train, `lengths` the document lengths of the training examples."""
        self.folder = folder
        self.checkpoint = checkpoint
        self.reader = checkpoint.reader
        self.config = config
        self.training = training
        self.validation = validation
        self.lengths = lengths
        self.on_metrics = on_metrics
        self.weights = {name: p for name, p in self.reader.named_parameters() if p.requires_grad}
        self.loss = READERS[checkpoint.name].loss
        self.optimiser = config.optimiser_of(self.weights)
        self.averages = {} if config.average is None else {name: w.detach().clone() for name, w in self.weights.items()}
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
        if self.config.threads is not None:
            torch.set_num_threads(self.config.threads)
        begun = monotonic() - self.position.seconds
        while not self.position.finished:
            batches = length_batches(self.lengths, self.config.batch_size, seed=[self.config.seed, self.position.epoch])
            for members, batch in self.prefetched(batches[self.position.batch :]):
                now = monotonic() - begun
                self.position = replace(self.position, seconds=now)
                self.window.append(self.update(members, batch))
                last = self.position.batch == len(batches)
                late = self.config.max_minutes is not None and now >= 60 * self.config.max_minutes
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
                stopped = stop()
                if logs or validates or stopped:
                    self.save_state()
                if late or stopped:
                    return self.position
        return self.position

    def prefetched(self, batches: Sequence[NDArray[np.int64]]) -> Iterator[tuple[list[Example], Batch]]:
        """The batches, each made ready while the one before is computed."""

        def ready(indices: NDArray[np.int64]) -> tuple[list[Example], Batch]:
            examples = [self.training[int(i)] for i in indices]
            return examples, self.checkpoint.collator(examples, draw=1 + self.position.epoch)

        with ThreadPoolExecutor(1) as worker:
            upcoming = None
            for indices in batches:
                current, upcoming = upcoming, worker.submit(ready, indices)
                if current is not None:
                    yield current.result()
            if upcoming is not None:
                yield upcoming.result()

    def update(self, examples: list[Example], batch: Batch) -> dict[str, float]:
        """One step of the optimiser; returns what was measured on the way."""
        position, config = self.position, self.config
        rate = config.rate(position.epoch, self.share_done)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.reader.train()
        # What dropout drops depends on the seed and the step alone, so a resumed run drops the same.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed((config.seed << 32) + position.step)
            output = self.reader(batch)
        loss = self.loss(output, batch)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = config.clipped(self.weights)
        if not (loss.isfinite() and norm.isfinite()):
            names = ", ".join(example.id for example in examples)
            raise TrainingError(
                f"the loss is {loss.item()} and the gradient's norm {norm.item()} at update {position.step + 1}; "
                f"nothing was overwritten. Look at these examples, or lower train.learning_rate: {names}"
            )
        self.optimiser.step()
        self.follow()
        self.position = replace(
            position, batch=position.batch + 1, step=position.step + 1, examples=position.examples + len(examples)
        )
        return {
            "loss": loss.item(),
            "accuracy": (output.log_probabilities.argmax(dim=1) == batch.answer).float().mean().item(),
            "gradient_norm": norm.item(),
            "padding": 1 - batch.document_mask.float().mean().item(),
            "learning_rate": rate,
        }

    def follow(self) -> None:
        """Move the averages a little towards the weights; at first quickly, so that the first weights are forgotten."""
        if self.config.average is not None:
            past = min(self.config.average, (1 + self.position.step) / (10 + self.position.step))
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
                save(replace(self.checkpoint, notes=notes), self.folder / BEST)

    def measured(self) -> Report:
        """The reader as it is now, on the validation questions."""
        predictor = Predictor(self.reader, self.checkpoint.collator)
        return evaluate(predictor.answer_many(self.validation, batch_size=self.config.batch_size))

    def end_epoch(self) -> None:
        """Go to the next epoch, or finish: after the last, or when there was no new best for too long."""
        position = self.position
        waited = position.epoch - position.best_epoch >= self.config.patience
        over = position.epoch + 1 >= self.config.max_epochs or waited
        self.position = replace(position, epoch=position.epoch + 1, batch=0, finished=over)

    def log(self, measured: dict[str, Any]) -> None:
        """Append a line to the metrics."""
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

    def save_state(self) -> None:
        """Write the state beside the old one, then put it in its place: a torn write leaves the old one usable."""
        tensors: dict[str, Tensor] = {}
        for name, weight in self.weights.items():
            tensors[f"weights/{name}"] = weight.detach()
            for key, value in self.optimiser.state.get(weight, {}).items():
                if value is not None:  # a momentum that is not used
                    tensors[f"optimiser/{key}/{name}"] = value
        tensors |= {f"average/{name}": value for name, value in self.averages.items()}
        target, new = self.folder / STATE, self.folder / f".{STATE}.new"
        try:
            save_file(
                tensors,
                new,
                metadata={"position": json.dumps(asdict(self.position)), "window": json.dumps(self.window)},
            )
            with new.open("rb") as file:
                os.fsync(file.fileno())
            new.replace(target)
        except (OSError, SafetensorError) as error:
            new.unlink(missing_ok=True)
            raise CheckpointError(
                f"{target}: the state cannot be written ({error}); the one before is still there: "
                "free some room and resume"
            ) from error

    def load_state(self) -> None:
        """Go back to the saved state, and to the metrics of that moment."""
        recover_folder(self.folder / BEST)
        path = self.folder / STATE
        if not path.exists():  # killed before the first state: begin anew
            (self.folder / METRICS).unlink(missing_ok=True)
            return
        try:
            with safe_open(path, framework="pt") as file:
                self.position = Position(**json.loads(file.metadata()["position"]))
                self.window = json.loads(file.metadata()["window"])
                self.set_weights({name: file.get_tensor(f"weights/{name}") for name in self.weights})
                self.averages = {name: file.get_tensor(f"average/{name}") for name in self.averages}
                for entry in file.keys():  # noqa: SIM118
                    kind, _, rest = entry.partition("/")
                    if kind == "optimiser":
                        key, _, name = rest.partition("/")
                        self.optimiser.state[self.weights[name]][key] = file.get_tensor(entry)
        except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
            raise CheckpointError(
                f"{path}: this state does not fit the run ({error}); were settings changed since? "
                "Resume with the settings of the run, or begin a new one in another folder"
            ) from error
        with (self.folder / METRICS).open("ab") as metrics:
            metrics.truncate(self.position.metrics_bytes)


def averages(window: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each number over some updates; the learning rate is the last."""
    means = {name: sum(line[name] for line in window) / len(window) for name in window[0]}
    return {**means, "learning_rate": window[-1]["learning_rate"]}


def usable(examples: Iterable[Example], fraction: float, seed: int) -> tuple[NDArray[np.int64], int]:
    """Which examples to train on, and how many were left out because their answer is not in their document."""
    able = []
    total = 0
    for example in examples:
        if trainable(example):
            able.append(total)
        total += 1
    if not able:
        raise TrainingError("no training question has its answer in its document; look at it with gareader describe")
    chosen = np.array(able, dtype=np.int64)
    if fraction < 1:
        count = max(1, round(fraction * len(able)))
        chosen = np.sort(np.random.default_rng(seed).permutation(chosen)[:count])
    return chosen, total - len(able)


def trainable(example: Example) -> bool:
    """Whether the answer is known and in the document."""
    return example.answer is not None and not set(example.document).isdisjoint(example.candidates[example.answer])
