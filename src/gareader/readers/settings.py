"""The settings of the built-in readers, without torch: one dataclass per paper; the defaults are the paper's."""

from dataclasses import dataclass
from typing import Annotated, Literal

from gareader.core.config import Bounds, Count, NonNegative, Positive, Settings, Share
from gareader.core.errors import ConfigError
from gareader.kernels.layers import CellName
from gareader.readers.gated_attention_settings import GATED_ATTENTION as GATED_ATTENTION
from gareader.readers.gated_attention_settings import GatedAttentionConfig as GatedAttentionConfig


@dataclass(frozen=True)
class DeepLSTMConfig(Settings):
    """Settings of a Deep LSTM Reader; the defaults are sizes and dropout of a program that is known to work on CNN.

    That program reads the query first, and its initial weights have deviation 0.01.
    """

    hidden: Count = 256
    """H, units of each layer."""
    layers: Count = 2
    """K, layers of the LSTM."""
    query_first: bool = False
    """Whether the query comes before the document."""
    dropout: Share = 0.1
    """Dropout rate of each layer's output."""
    init_std: Positive = 0.1
    """Standard deviation of the initial weights, which are normal."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class AttentiveConfig(Settings):
    """Settings of an Attentive Reader; the defaults are sizes and dropout of a program that is known to work on CNN.

    That program has no layer g and leaves the backward states in the order in which they were read.
    """

    hidden: Count = 256
    """H, LSTM units per direction."""
    attention_hidden: Count = 100
    """M, units of the attention layer m."""
    dropout: Share = 0.2
    """Dropout rate of the LSTM states."""
    init_std: Positive = 0.1
    """Standard deviation of the initial weights, which are normal."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class ImpatientConfig(AttentiveConfig):
    """Settings of an Impatient Reader: those of the Attentive Reader, with the same defaults."""


@dataclass(frozen=True)
class MemoryConfig(Settings):
    """Settings of a memory network; the defaults are the paper's for the Children's Book Test."""

    window: Annotated[int, Bounds(least=1, odd=True, reason="so that there is a middle")] = 5
    """b, words of a window; the candidate or the blank is in the middle."""
    hidden: Count = 300
    """p, width of an embedding; if word vectors are narrower than b·p, a b-th of their width, rounded down."""
    dropout: Share = 0.0
    """Dropout rate of the word vectors."""
    word_scale: Positive = 0.1
    """Factor of the initial word vectors; random ones have variance 1."""
    update_words: bool = True
    """Whether training changes the word vectors, which are all weights of this reader."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.update_words:
            raise ConfigError(f"update_words = {self.update_words} leaves this reader nothing to learn; use true")


@dataclass(frozen=True)
class AttentionSumConfig(Settings):
    """Settings of an Attention Sum Reader; the defaults are the authors' for the Children's Book Test."""

    hidden: Count = 128
    """H, GRU units per direction."""
    dropout: Share = 0.0
    """Dropout rate of the word vectors."""
    word_scale: Positive = 0.058
    """Factor of the initial word vectors: random ones have variance 1, the paper's are uniform within ±0.1."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class DERConfig(Settings):
    """Settings of a DER Network; the defaults are the authors'."""

    hidden: Count = 300
    """H, LSTM units per direction, and the width of q and v_e."""
    dropout: Share = 0.1
    """Dropout rate of the word vectors."""
    word_scale: Positive = 0.029
    """Factor of the initial word vectors: random ones have variance 1, the paper's are uniform within ±0.05."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class StanfordConfig(Settings):
    """Settings of a Stanford Attentive Reader; the defaults are the paper's for CNN."""

    hidden: Count = 128
    """H, GRU units per direction."""
    dropout: Share = 0.2
    """Dropout rate of the GRUs' input."""
    init_bound: Positive = 0.01
    """Bound of the initial weights of W_s, which are uniform; those of W_a have the same deviation."""
    cell: CellName = "cudnn"
    """The GRU's equations: with the reset gate after the product (cudnn) or before it (paper)."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class IterativeConfig(Settings):
    """Settings of an Iterative Alternating Attention Reader; the defaults are the paper's."""

    glimpses: Annotated[int, Bounds(least=2, most=1000, reason="for the first one knows nothing")] = 8
    """T, glimpses: each attends to the query and then to the document."""
    hidden: Count = 128
    """H, GRU units per direction."""
    inference_hidden: Count = 512
    """S, units of the inference GRU, whose inputs are the glimpses."""
    dropout: Share = 0.2
    """Dropout rate of the token embeddings and of the inputs of attentions and gates."""
    word_scale: Positive = 0.029
    """Factor of the initial word vectors: random ones have variance 1; 0.029 is the deviation of uniform ±0.05."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class EpiReaderConfig(Settings):
    """Settings of an EpiReader; the defaults are the paper's for named entities of the Children's Book Test."""

    hidden: Count = 128
    """H, the Extractor's GRU units per direction."""
    extracted: Annotated[int, Bounds(least=2)] = 5
    """K, candidates that the Extractor selects for the Reasoner."""
    filters: Count = 16
    """F, filters of each convolution over three words."""
    sentence_states: Count = 32
    """N, units of the GRU over the sentences."""
    margin: NonNegative = 0.04
    """γ, the margin by which the answer's π should exceed the others'."""
    reasoner_weight: NonNegative = 50.0
    """λ, weight of the Reasoner's loss beside the Extractor's; 0 trains the Extractor alone."""
    dropout: Share = 0.0
    """Dropout rate of the word vectors."""
    word_scale: Positive = 0.029
    """Factor of the initial word vectors: random ones have variance 1, the paper's are uniform within ±0.05."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class AoAConfig(Settings):
    """Settings of an Attention-over-Attention Reader; the defaults are the paper's for CBT's named entities."""

    hidden: Count = 384
    """H, GRU units per direction."""
    dropout: Share = 0.1
    """Dropout rate of the token embeddings."""
    word_scale: Positive = 0.029
    """Factor of the initial word vectors: random ones have variance 1, the paper's are uniform within ±0.05."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class ReasoNetConfig(Settings):
    """Settings of a ReasoNet; the defaults are the paper's for CNN."""

    steps: Annotated[int, Bounds(least=2, most=1000, reason="or there is nothing to decide")] = 5
    """T, the largest number of steps."""
    hidden: Count = 256
    """H, GRU units per direction; the state is twice as wide."""
    projection: Count = 384
    """P, width of the projections whose cosine compares a state with a word."""
    sharpness: Positive = 10.0
    """γ, factor of the cosine."""
    dropout: Share = 0.2
    """Dropout rate of the token embeddings."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class NSEConfig(Settings):
    """Settings of an NSE reader; the defaults are the paper's best for named entities of the Children's Book Test."""

    steps: Annotated[int, Bounds(least=1, most=1000)] = 12
    """T, steps of hypothesis testing."""
    control: Literal["adaptive", "gating"] = "adaptive"
    """What the written state controls: when to stop (adaptive), or how much of the query memory to keep (gating)."""
    hidden: Count = 218
    """H, LSTM units per direction; the width of a memory is k = 2H."""
    dropout: Share = 0.2
    """Dropout rate of the token embeddings."""
    update_words: bool = True
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class BiDAFConfig(Settings):
    """Settings of a BiDAF reader; the defaults are the paper's for cloze questions."""

    window: Annotated[int, Bounds(least=1, odd=True, reason="so that there is a middle")] = 19
    """W, words of a window."""
    hidden: Count = 100
    """H, LSTM units per direction."""
    dropout: Share = 0.2
    """Dropout rate of the inputs of the character CNN, of each LSTM and of the last layer."""
    update_words: bool = False
    """Whether training changes the word vectors."""


@dataclass(frozen=True)
class LSTMLanguageModelConfig(Settings):
    """Settings of an LSTM language model; the paper's for the Children's Book Test, with vectors of width 512."""

    hidden: Count = 512
    """H, LSTM units."""
    dropout: Share = 0.0
    """Dropout rate of input and output of the LSTM."""
    update_words: bool = True
    """Whether training changes the word vectors."""


SETTINGS: dict[str, type[Settings]] = {
    GATED_ATTENTION: GatedAttentionConfig,
    "deep-lstm": DeepLSTMConfig,
    "attentive": AttentiveConfig,
    "impatient": ImpatientConfig,
    "memory": MemoryConfig,
    "attention-sum": AttentionSumConfig,
    "der": DERConfig,
    "stanford": StanfordConfig,
    "iterative": IterativeConfig,
    "epireader": EpiReaderConfig,
    "aoa": AoAConfig,
    "reasonet": ReasoNetConfig,
    "nse": NSEConfig,
    "bidaf": BiDAFConfig,
    "lstm-lm": LSTMLanguageModelConfig,
}
"""The settings of each built-in reader, by the names that `reader.name` takes."""
