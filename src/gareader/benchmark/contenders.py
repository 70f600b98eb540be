"""The contenders: one reader with the native kernels in float32 and bf16, in plain PyTorch, and on `torch.nn.GRU`."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gareader.benchmark.measure import Work
from gareader.data.arrays import TABLE
from gareader.kernels.library import Precision
from gareader.nn import native
from gareader.nn.gru import BiGRU
from gareader.nn.tensors import Batch, Types
from gareader.readers.gated_attention_numpy import GatedAttentionInNumpy
from gareader.readers.gated_attention_reader import GatedAttentionReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import GatedAttentionConfig
from gareader.trained.model import arrays

NATIVE, PYTORCH, NN_GRU = "gareader native", "gareader PyTorch", "torch.nn.GRU"
BF16 = "gareader bf16"
"""The native kernels with products in bf16."""


class PyTorchBiGRU(BiGRU):
    """BiGRU in plain PyTorch, even if the native kernel is there."""

    def forward(self, sequence: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:
        return self.in_pytorch(sequence, mask, words)


class TorchGRU(nn.Module):
    """`torch.nn.GRU` in the place of BiGRU, at its fastest: it has no masks, so it is right only without padding.

    Its cell applies the reset gate after the product, with the same number of operations.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.gru = nn.GRU(inputs, hidden, bidirectional=True, batch_first=True)

    def forward(self, sequence: Tensor, mask: Tensor, words: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """Compute the states of both directions; the mask is ignored."""
        states: Tensor = self.gru(sequence if words is None else sequence[words])[0]
        return states


GRUS: dict[str, type[nn.Module]] = {NATIVE: BiGRU, PYTORCH: PyTorchBiGRU, NN_GRU: TorchGRU}


@dataclass(frozen=True)
class Size:
    """Sizes of reader and batch; the defaults are the paper's best reader for the Children's Book Test."""

    batch: int = 32
    document: int = 430
    query: int = 25
    hidden: int = 128
    hops: int = 3
    vocabulary: int = 20_000
    candidates: int = 10

    @property
    def types(self) -> int:
        """Number of distinct words in the batch: 3,000 for 32 documents of 430 words, as in that corpus."""
        share: float = (self.batch * self.document / (32 * 430)) ** 0.7
        return max(8, round(3000 * share))

    @property
    def forward_operations(self) -> float:
        """Floating-point operations of the dense products of a forward pass, counted from the equations."""
        H, tokens = self.hidden, self.batch * self.document
        inputs = [150] + [2 * H] * (self.hops - 1)
        inputs[-1] += 2
        document = sum(12 * tokens * H * (width + H) for width in inputs)
        query = 12 * self.batch * self.query * H * (150 + H) * self.hops
        attention = 8 * tokens * self.query * H * (self.hops - 1)
        characters = 12 * self.types * 10 * 25 * (25 + 25)
        return document + query + attention + characters


def contender(name: str, size: Size) -> GatedAttentionReader:
    """The contender of that name, with random weights."""
    generator = torch.Generator().manual_seed(1)
    words = torch.empty(size.vocabulary, 100).normal_(generator=generator)
    config = GatedAttentionConfig(size.hops, size.hidden)
    reader = GatedAttentionReader(config, Basis(words, 60, generator=generator))
    if name != NATIVE:
        reader.gated_attention.has_kernel = False
    for parent in list(reader.modules()):
        for child, module in list(parent.named_children()):
            if isinstance(module, BiGRU) and name != NATIVE:
                inputs, hidden = module.input_weight.shape[1], module.recurrent_weight.shape[1]
                setattr(parent, child, GRUS[name](inputs, hidden))
    return reader


def in_bf16(work: Work) -> Work:
    """The same work with the native kernels' products in bf16."""

    def run() -> object:
        with native.products_in("bf16"):
            return work()

    return run


def in_numpy(reader: GatedAttentionReader, precision: Precision = "float32") -> GatedAttentionInNumpy:
    """The same reader in numpy and the native kernel."""
    weights = arrays(reader)
    words = weights.pop(TABLE)
    return GatedAttentionInNumpy(reader.config, weights, words, len(weights["embed.characters.table"]), precision)


def random_batch(size: Size) -> Batch:
    """Random questions, all of the same length."""
    generator = torch.Generator().manual_seed(2)
    B, D, Q, types = size.batch, size.document, size.query, size.types

    def integers(limit: int, *shape: int) -> Tensor:
        return torch.randint(limit, shape, generator=generator)

    document = integers(types, B, D)
    candidates = document[:, : size.candidates]  # (B, C): words of the document
    return Batch(
        types=Types(
            known=integers(size.vocabulary, types),
            unknown=torch.empty(0, 100),
            characters=integers(60, types, 10),
            character_mask=torch.arange(10) < (integers(9, types, 1) + 2).sort(dim=0).values,  # as the collator sorts
            ends=torch.arange(types) % 20 == 0,  # sentences of twenty words on average
        ),
        document=document,
        document_mask=torch.ones(B, D, dtype=torch.bool),
        quoted=torch.zeros(B, D, dtype=torch.bool),
        query=integers(types, B, Q),
        query_mask=torch.ones(B, Q, dtype=torch.bool),
        placeholder=integers(Q, B),
        occurrence=document.unsqueeze(1) == candidates.unsqueeze(2),
        words_present=torch.ones_like(candidates),
        answer=torch.zeros(B, dtype=torch.int64),
        candidates=candidates.unsqueeze(2),
        candidates_mask=torch.ones(*candidates.shape, 1, dtype=torch.bool),
    )


def training_step(reader: nn.Module, loss: Callable[..., Tensor] = answer_loss) -> Callable[[Batch], None]:
    """A function that makes one update: forward, loss, backward, clipping and Adam."""
    weights = [weight for weight in reader.parameters() if weight.requires_grad]
    adam = torch.optim.Adam(weights, lr=5e-4, fused=True)
    reader.train()

    def step(batch: Batch) -> None:
        adam.zero_grad()
        loss(reader(batch), batch).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(weights, 10)
        adam.step()

    return step


def forward_pass(reader: nn.Module) -> Callable[[Batch], None]:
    """A function that makes one forward pass without gradients."""
    reader.eval()

    def forward(batch: Batch) -> None:
        with torch.inference_mode():
            reader(batch)

    return forward
