"""Weights of a Gated-Attention Reader for more units or features: the wider reader begins with the same answers.

New units of a document GRU have random weights, but nothing reads them at first: the old units of their layer have zero
weights for them, and the new units of the query, by which they are multiplied in a gate (eq. 6) and in the scores
(eq. 7), begin at zero, since the weights of their candidate state h̃ are zero. The vectors of new features begin at
zero; the weights that read them are random.
"""

from collections.abc import Mapping

from torch import Tensor

from gareader.readers.features import chosen
from gareader.readers.settings import GatedAttentionConfig

FEATURE_WIDTH = 2
"""Numbers of a feature's vector."""


def can_widen(before: object, after: object) -> bool:
    """Whether a reader with settings `after`, of more units or features, can begin with the weights of `before`."""
    if not isinstance(before, GatedAttentionConfig) or not isinstance(after, GatedAttentionConfig):
        return False
    columns, more_columns = set(feature_columns(before)), set(feature_columns(after))
    if before.hidden == after.hidden:
        return columns < more_columns
    multiplies = after.gate == "multiply" and after.query_attention != "none"
    return before.hidden < after.hidden and columns <= more_columns and (after.hops == 1 or multiplies)


def widen(
    trained: Mapping[str, Tensor],
    first: Mapping[str, Tensor],
    before: GatedAttentionConfig,
    after: GatedAttentionConfig,
) -> dict[str, Tensor]:
    """The weights `trained`, set into the larger `first` random weights of a reader that is otherwise the same."""
    h, H = before.hidden, after.hidden
    columns = [gate * H + unit for gate in range(3) for unit in range(h)]  # of the old units in r, z and h̃
    features = feature_columns(after)
    widened = {}
    for key, weight in first.items():
        small, large = trained.get(key), weight.clone()
        if small is None:
            large[...] = 0  # the vectors of a new feature
        elif key.startswith(("document_grus.", "query_grus.")):
            hop, kind = key.split(".")[1:]
            rows = [*range(small.shape[-2])]
            if kind == "input_weight" and key.startswith("document_grus."):
                if int(hop) > 0:
                    rows[: 2 * h] = [*range(h), *range(H, H + h)]  # of X^(k): both directions of D^(k-1)
                if int(hop) == after.hops - 1 and features:
                    begin = large.shape[-2] - len(features)
                    rows[small.shape[-2] - len(feature_columns(before)) :] = [
                        begin + features.index(column) for column in feature_columns(before)
                    ]
            if key.startswith("query_grus."):
                large[..., 2 * H + h :] = 0  # h̃ of the new units
            if kind == "recurrent_weight":
                large[:, h:, columns] = 0
            block = large[..., rows, :]
            block[..., columns] = small
            large[..., rows, :] = block
        else:
            large = small
        widened[key] = large
    return widened


def feature_columns(config: GatedAttentionConfig) -> list[tuple[str, int]]:
    """The last inputs of the last document GRU: the numbers of the features."""
    names = ["feature"] * config.feature + chosen(config)
    return [(name, number) for name in names for number in range(FEATURE_WIDTH)]
