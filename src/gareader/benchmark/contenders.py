"""The same reader three times: with the native kernels, with clear PyTorch, and with `torch.nn.GRU`."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gareader.batching import Batch, Types
from gareader.nn.gated_attention import GatedAttention
from gareader.nn.gru import BiGRU
from gareader.readers.gated_attention_reader import GatedAttentionConfig, GatedAttentionReader
from gareader.readers.output import answer_loss
from gareader.readers.reader import Basis

NATIVE, PYTORCH, NN_GRU = "gareader native", "gareader PyTorch", "torch.nn.GRU"


class PyTorchBiGRU(BiGRU):
    """The clear version, even where there is a native one."""

    def forward(self, sequence: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:
        """As BiGRU's."""
        return self.in_pytorch(sequence, mask, words)


class PyTorchGatedAttention(GatedAttention):
    """The clear version, even where there is a native one."""

    def forward(
        self,
        document: Tensor,
        query: Tensor | None,
        query_mask: Tensor,
        *,
        attention: bool = False,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor | None]:
        """As GatedAttention's."""
        return self.in_pytorch(document, query, query_mask)


class TorchGRU(nn.Module):
    """`torch.nn.GRU` in the place of BiGRU, at its fastest: without masks, so right only where nothing is padded.

    It has its own cell, reset after the product, at the same number of operations.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(inputs, hidden, bidirectional=True, batch_first=True)

    def forward(self, sequence: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """As BiGRU's, but for the mask."""
        states: Tensor = self.gru(sequence if words is None else sequence[words])[0]
        return states


GRUS: dict[str, type[nn.Module]] = {NATIVE: BiGRU, PYTORCH: PyTorchBiGRU, NN_GRU: TorchGRU}


@dataclass(frozen=True)
class Size:
    """Of the work; as in the paper's best reader for the Children's Book Test, on documents of its mean length."""

    batch: int = 32
    document: int = 430
    query: int = 25
    hidden: int = 128
    hops: int = 3
    vocabulary: int = 20_000
    candidates: int = 10

    @property
    def types(self) -> int:
        """Distinct words in the batch: 3,000 for 32 documents of 430 words, as in that corpus."""
        share: float = (self.batch * self.document / (32 * 430)) ** 0.7
        return max(8, round(3000 * share))

    @property
    def forward_operations(self) -> float:
        """Of all dense products of a forward pass as the equations have them, an addition and a product each one."""
        H, tokens = self.hidden, self.batch * self.document
        inputs = [150] + [2 * H] * (self.hops - 1)
        inputs[-1] += 2
        document = sum(12 * tokens * H * (width + H) for width in inputs)
        query = 12 * self.batch * self.query * H * (150 + H) * self.hops
        attention = 8 * tokens * self.query * H * (self.hops - 1)
        characters = 12 * self.types * 10 * 25 * (25 + 25)
        return document + query + attention + characters

    @property
    def training_operations(self) -> float:
        """Of a training step: the backward pass has two products for each one of the forward pass."""
        return 3 * self.forward_operations


def reader(name: str, size: Size) -> GatedAttentionReader:
    """A reader with random weights."""
    generator = torch.Generator().manual_seed(1)
    words = torch.empty(size.vocabulary, 100).normal_(generator=generator)
    config = GatedAttentionConfig(size.hops, size.hidden)
    model = GatedAttentionReader(config, Basis(words, 60, generator=generator))
    if name != NATIVE:
        model.gated_attention = PyTorchGatedAttention(config.query_attention, config.gate, config.dropout)
    for parent in list(model.modules()):
        for child, module in list(parent.named_children()):
            if isinstance(module, BiGRU) and name != NATIVE:
                inputs, hidden = module.input_weight.shape[1], module.recurrent_weight.shape[1]
                setattr(parent, child, GRUS[name](inputs, hidden))
    return model


def batch(size: Size) -> Batch:
    """Random questions, all of the same length."""
    random = torch.Generator().manual_seed(2)
    B, D, Q, types = size.batch, size.document, size.query, size.types

    def some(limit: int, *shape: int) -> Tensor:
        return torch.randint(limit, shape, generator=random)

    document = some(types, B, D)
    candidates = document[:, : size.candidates]  # (B, C): words that occur
    return Batch(
        types=Types(
            known=some(size.vocabulary, types),
            unknown=torch.empty(0, 100),
            characters=some(60, types, 10),
            character_mask=torch.arange(10) < (some(9, types, 1) + 2).sort(dim=0).values,  # as the collator sorts them
            ends=torch.arange(types) % 20 == 0,  # sentences of twenty words, in the mean
        ),
        document=document,
        document_mask=torch.ones(B, D, dtype=torch.bool),
        query=some(types, B, Q),
        query_mask=torch.ones(B, Q, dtype=torch.bool),
        placeholder=some(Q, B),
        occurrence=document.unsqueeze(1) == candidates.unsqueeze(2),
        answer=torch.zeros(B, dtype=torch.int64),
        candidates=candidates.unsqueeze(2),
        candidates_mask=torch.ones(*candidates.shape, 1, dtype=torch.bool),
    )


def training(model: nn.Module, loss: Callable[..., Tensor] = answer_loss) -> Callable[[Batch], None]:
    """Forward, loss, backward, clipping and Adam."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    adam = torch.optim.Adam(weights, lr=5e-4, fused=True)
    model.train()

    def step(questions: Batch) -> None:
        adam.zero_grad()
        loss(model(questions), questions).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(weights, 10)
        adam.step()

    return step


def answering(model: nn.Module) -> Callable[[Batch], None]:
    """A forward pass without gradients."""
    model.eval()

    def answer(questions: Batch) -> None:
        with torch.inference_mode():
            model(questions)

    return answer
