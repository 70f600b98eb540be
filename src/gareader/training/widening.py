"""Weights of a Gated-Attention Reader for a larger hidden size: the wider reader begins with the same answers.

New units of a document GRU have random weights, but nothing reads them at first: the old units of their layer have zero
weights for them, and the new units of the query, by which they are multiplied in a gate (eq. 6) and in the scores
(eq. 7), begin at zero, since the weights of their candidate state h̃ are zero.
"""

from collections.abc import Mapping

from torch import Tensor

from gareader.readers.settings import GatedAttentionConfig


def can_widen(before: object, after: object) -> bool:
    """Whether a reader with settings `after` can begin with the weights of one with `before`: only H is larger."""
    return (
        isinstance(before, GatedAttentionConfig)
        and isinstance(after, GatedAttentionConfig)
        and before.hidden < after.hidden
        and (after.hops == 1 or (after.gate == "multiply" and after.query_attention != "none"))
    )


def widen(trained: Mapping[str, Tensor], first: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights `trained`, set into the larger `first` random weights of a reader that is otherwise the same."""
    widened = {}
    for key, weight in first.items():
        small, large = trained.get(key), weight.clone()
        if small is not None and small.shape != large.shape and key.startswith(("document_grus.", "query_grus.")):
            hop, kind = key.split(".")[1:]
            h, H = small.shape[-1] // 3, large.shape[-1] // 3
            columns = [gate * H + unit for gate in range(3) for unit in range(h)]  # of the old units in r, z and h̃
            rows = [*range(small.shape[-2])]
            if kind == "input_weight" and key.startswith("document_grus.") and int(hop) > 0:
                backward, features = range(H, H + h), range(2 * H, large.shape[-2])
                rows = [*range(h), *backward, *features]  # of X^(k): both directions of D^(k-1), then the features
            if key.startswith("query_grus."):
                large[..., 2 * H + h :] = 0  # h̃ of the new units
            if kind == "recurrent_weight":
                large[:, h:, columns] = 0
            block = large[..., rows, :]
            block[..., columns] = small
            large[..., rows, :] = block
        elif small is not None:
            large = small
        widened[key] = large
    return widened
