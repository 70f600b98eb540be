"""The sections [data] and [train] of a settings file; nothing here imports torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from gareader.core.config import Bounds, Count, NonNegative, Positive, Settings, Table
from gareader.core.errors import ConfigError, did_you_mean
from gareader.data.anonymity import Way

Optimiser = Literal["adam", "sgd", "rmsprop", "adadelta"]


@dataclass(frozen=True)
class DataConfig(Settings):
    """Settings of the corpora and word vectors; paths are relative to the working folder."""

    train: str
    """Training questions: a file or folder in any known format, or a prepared corpus."""
    validation: str
    """Validation questions, which choose the best model."""
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
class TrainConfig(Settings):
    """Settings of training; the defaults are the paper's."""

    seed: Annotated[int, Bounds(least=0, below=2**32)] = 1
    """Seed of the initial weights, the order of the examples and dropout."""
    batch_size: Count = 32
    """Questions per update."""
    optimiser: Optimiser = "adam"
    """The optimiser."""
    learning_rate: Positive = 5e-4
    """The learning rate of the first epochs."""
    learning_rate_decay: Positive = 0.5
    """Factor of the learning rate at the start of every epoch after the first `constant_epochs`."""
    constant_epochs: Count = 2
    """Epochs at the full learning rate."""
    momentum: NonNegative = 0.0
    """Momentum of sgd and rmsprop."""
    rho: Annotated[float, Bounds(above=0, below=1)] = 0.95
    """Decay of the mean of squared gradients in rmsprop and adadelta."""
    clip_norm: Positive = 10.0
    """Largest norm of the gradient; a larger gradient is scaled down to it."""
    clip_value: Positive | None = None
    """Largest absolute value of a gradient's component; it replaces `clip_norm`."""
    word_weight_decay: NonNegative = 0.0
    """L2 penalty on trained word vectors: the weight of the sum of their squares in the loss."""
    max_epochs: Count = 10
    """Largest number of epochs."""
    patience: Count = 1
    """Epochs without a new best validation accuracy after which training stops."""
    max_minutes: Positive | None = None
    """A time budget: the learning rate falls to zero over its second half, or that of max_epochs if they end first."""
    anneal: bool = False
    """Whether the learning rate falls linearly to zero over the second half of all updates of max_epochs."""
    ema: Annotated[float, Bounds(above=0, below=1)] | None = None
    """Decay of an exponential moving average of the weights, such as 0.999; the average is validated and saved."""
    start: str | None = None
    """A trained model, by name or folder, whose weights are the initial weights; its `reader.hidden` may be smaller."""
    fresh_names: Annotated[float, Bounds(least=0, most=1)] = 0.0
    """Share of the questions whose names get new random vectors, so that the reader learns to handle unknown names."""
    fraction: Annotated[float, Bounds(above=0, most=1)] = 1.0
    """Share of the training questions to use, drawn by the seed."""
    validate_every: Count = 500
    """Updates between two validations; there is also one at the end of every epoch."""
    validation_examples: Count | None = None
    """Number of validation questions, drawn by the seed; all if not given."""
    log_every: Count = 50
    """Updates between two lines of metrics."""
    micro_batches: Count = 1
    """Slices of a process's part of a batch, whose gradients are accumulated: less memory, the same update."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """cpu, cuda, or auto: a GPU if there is one; of several processes on a machine each takes its own."""
    precision: Literal["float32", "bf16"] = "float32"
    """float32, or bf16 for matrix products: on a CPU those of Bi-GRUs and gated attention; all else stays float32."""
    compile: bool = False
    """Whether to use torch.compile: updates are faster, but the first ones take longer."""
    threads: Count | None = None
    """Threads for tensors; all cores if not given. Small readers are faster with one."""

    def rate(self, epoch: int, progress: float) -> float:
        """The learning rate in an epoch, counted from 0, after a share `progress` of the run."""
        rate = self.learning_rate * self.learning_rate_decay ** max(0, epoch + 1 - self.constant_epochs)
        if self.anneal or self.max_minutes is not None:
            rate = min(rate, 2 * self.learning_rate * (1 - progress))
        return rate


SECTIONS: dict[str, type[Settings]] = {"data": DataConfig, "reader": Settings, "train": TrainConfig}
"""The sections of a settings file; those of [reader] depend on the reader."""


def check_sections(table: Table) -> None:
    """Raise ConfigError for an unknown section, or one without settings."""
    for section, keys in table.items():
        if section not in SECTIONS:
            raise ConfigError(f"[{section}] is no section; {did_you_mean(section, SECTIONS)}")
        if not isinstance(keys, dict):
            raise ConfigError(f"{section} = {keys!r} is no section; write its settings under [{section}]")
