"""Tables that are read by rows: a training run may lend the rows, so as to update only those that a batch reads."""

import torch
from torch import Tensor, nn
from torch.nn import functional

_READ_BY_ROWS, _LEND = "read_by_rows", "lend"


def row_table(values: Tensor, *, requires_grad: bool = True) -> nn.Parameter:
    """A weight that a reader reads by `rows` alone; if it is read otherwise too, every update changes all its rows."""
    table = nn.Parameter(values, requires_grad=requires_grad)
    setattr(table, _READ_BY_ROWS, True)
    return table


def is_row_table(weight: nn.Parameter) -> bool:
    """Whether `row_table` made the weight."""
    return getattr(weight, _READ_BY_ROWS, False)


def rows(table: Tensor, indices: Tensor) -> Tensor:
    """The rows of a table at these indices, of any shape (…) → (…, width)."""
    lend = getattr(table, _LEND, None)
    if lend is None or not torch.is_grad_enabled():
        return functional.embedding(indices, table)
    lent: Tensor = lend(indices.flatten())
    return lent.view(*indices.shape, *table.shape[1:])
