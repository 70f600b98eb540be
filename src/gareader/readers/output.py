"""ReaderOutput of tensors, which every reader returns for a batch, and the losses that readers share."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from gareader.data import arrays
from gareader.nn.tensors import Batch

ReaderOutput = arrays.ReaderOutput[Tensor]


def answer_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log Pr(answer|d,q), the mean over the batch."""
    return functional.nll_loss(output.log_probabilities, batch.answer)


@dataclass(frozen=True, kw_only=True)
class PointerOutput(ReaderOutput):
    """Output of readers whose loss has a softmax over all words of the document, not over the candidates alone."""

    log_mass: Tensor
    """(B, C): log of the attention on each candidate, not renormalised over the candidates."""


def mass_loss(output: ReaderOutput, batch: Batch) -> Tensor:
    """−log of the attention on the answer, the mean over the batch."""
    if not isinstance(output, PointerOutput):
        raise TypeError("the reader gave no log_mass")
    return functional.nll_loss(output.log_mass, batch.answer)
