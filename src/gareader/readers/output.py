"""ReaderOutput: what every reader returns for a batch, and the loss of most."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from gareader.batching import Batch


@dataclass(frozen=True)
class ReaderOutput:
    """Log-probabilities of the candidates and, on request, the attention that led to them."""

    log_probabilities: Tensor
    """(B, C): log Pr(c|d,q); −inf for a candidate that is not in the document."""
    hop_attention: tuple[Tensor, ...] = ()
    """(B, D, Q) for each hop: the weight document token i gives to each query token, or, where a reader says so, each
    query token to document token i."""
    document_attention: Tensor | None = None
    """(B, D): the final attention s over the document."""


def answer_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log Pr(answer|d,q), the mean over the batch."""
    return functional.nll_loss(output.log_probabilities, batch.answer)


@dataclass(frozen=True, kw_only=True)
class PointerOutput(ReaderOutput):
    """Of readers that are trained on attention which other words of the document share."""

    log_mass: Tensor
    """(B, C): log of the attention on each candidate, before it is renormalised over the candidates."""


def mass_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log of the attention on the answer, the mean over the batch."""
    if not isinstance(output, PointerOutput):
        raise TypeError("the reader gave no log_mass")
    return functional.nll_loss(output.log_mass, batch.answer)
