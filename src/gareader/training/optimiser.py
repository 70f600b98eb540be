"""The optimiser: clipping, and updates of tables whose cost grows with the rows that a batch reads.

A table such as the word vectors has tens of thousands of rows, of which a batch reads a few thousand. Where a row has
no gradient, most optimisers still change it: the averages of gradients decay, and the row moves by what is left of
them. These updates wait until the row is read again, and are then made at once. The numbers are those of updating
every row every time, up to rounding.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from gareader.core.distributed import Group
from gareader.data.arrays import TABLE
from gareader.nn.rows import is_row_table
from gareader.training.settings import Optimiser as OptimiserName
from gareader.training.settings import TrainConfig

PERIOD = 256
"""Updates after which every row is brought up to date, so that the learning rates of so many updates are known.

The first so many updates change every row: Adam's corrections of its first averages differ much from each other.
"""
CHUNK = 2**16
"""Numbers of a table that are brought up to date at a time; they and their state fit into the cache."""

OPTIMISERS: dict[OptimiserName, Callable[[TrainConfig, Any], torch.optim.Optimizer]] = {
    "adam": lambda recipe, groups: torch.optim.Adam(groups, lr=recipe.learning_rate, fused=True),
    "sgd": lambda recipe, groups: torch.optim.SGD(groups, lr=recipe.learning_rate, momentum=recipe.momentum),
    "rmsprop": lambda recipe, groups: torch.optim.RMSprop(
        groups, lr=recipe.learning_rate, alpha=recipe.rho, momentum=recipe.momentum
    ),
    "adadelta": lambda recipe, groups: torch.optim.Adadelta(groups, lr=recipe.learning_rate, rho=recipe.rho),
}
"""Optimisers by the names that `train.optimiser` takes."""

State = dict[str, Tensor]
"""The state that torch's optimisers keep of a weight, by their names."""


class Optimiser:
    """One of torch's optimisers, which sees of each row table the rows alone that have a gradient."""

    def __init__(self, config: TrainConfig, weights: Mapping[str, nn.Parameter], tables: Sequence[str] = ()) -> None:
        """`tables` are the names of the weights to update by rows; see `row_tables`."""
        self.config = config
        self.weights = weights
        skip = SKIPS[config.optimiser](config)
        self.tables = {name: RowUpdates(weights[name], skip, every=updates_every_row(config, name)) for name in tables}
        self.updated = {name: self.tables[name].rows if name in tables else weights[name] for name in weights}
        groups: list[dict[str, Any]] = [
            {"params": [weight for name, weight in self.updated.items() if name != TABLE]},
            {
                "params": [weight for name, weight in self.updated.items() if name == TABLE],
                "weight_decay": 2 * config.word_weight_decay,
            },
        ]
        self.torch = OPTIMISERS[config.optimiser](config, [group for group in groups if group["params"]])

    def zero_grad(self) -> None:
        for weight in self.weights.values():
            weight.grad = None
        for table in self.tables.values():
            table.lent = []

    def clip(self) -> Tensor:
        """Clip the gradients by norm or by value, and return their norm before."""
        for table in self.tables.values():
            table.collect()
        if self.config.clip_value is None:
            return nn.utils.clip_grad_norm_(self.updated.values(), self.config.clip_norm)
        norm = nn.utils.get_total_norm(weight.grad for weight in self.updated.values() if weight.grad is not None)
        nn.utils.clip_grad_value_(self.updated.values(), self.config.clip_value)
        return norm

    def step(self, rate: float) -> None:
        """Make one update at this learning rate with the gradients that `clip` has left."""
        for group in self.torch.param_groups:
            group["lr"] = rate
        for table in self.tables.values():
            self.torch.state[table.rows] = table.taken()
        self.torch.step()
        for table in self.tables.values():
            table.put(self.torch.state[table.rows], rate)

    def bring_up_to_date(self) -> None:
        """Make the updates that rows still wait for: the tables then have their true values."""
        for table in self.tables.values():
            table.bring_up_to_date()

    def state(self, name: str) -> State:
        """The state of one weight, for the checkpoint."""
        if name in self.tables:
            return self.tables[name].kept()
        state: dict[str, Tensor | None] = self.torch.state.get(self.weights[name], {})
        return {key: value for key, value in state.items() if value is not None}  # an unused momentum is None

    def set_state(self, name: str, state: State) -> None:
        if name in self.tables:
            self.tables[name].restore(state)
        elif state:
            self.torch.state[self.weights[name]] = state


def row_tables(config: TrainConfig, weights: Mapping[str, nn.Parameter], group: Group) -> list[str]:
    """The names of the weights to update by rows: row tables in the plain case.

    Where several processes exchange gradients, the reader is compiled, the weights are averaged or they are on a GPU,
    all rows are updated each time.
    """
    if group.size > 1 or config.compile or config.ema is not None:
        return []
    return [name for name, weight in weights.items() if is_row_table(weight) and weight.device.type == "cpu"]


def updates_every_row(config: TrainConfig, name: str) -> bool:
    """Whether each update changes each row, with or without a gradient, so that none can wait."""
    return (name == TABLE and config.word_weight_decay > 0) or (config.optimiser == "sgd" and config.momentum > 0)


class RowUpdates:
    """The updates of one table: torch's optimiser sees `rows`, a weight that is filled anew for each update."""

    def __init__(self, table: nn.Parameter, skip: "Skip | None", *, every: bool) -> None:
        """`skip` makes updates without a gradient; None if they change nothing. `every` update may change all rows."""
        self.table = table
        self.skip = skip
        self.every = every
        self.rows = nn.Parameter(table.detach()[:0])
        self.indices: Tensor | None = None  # of the rows; None for all
        self.gradient: Tensor | None = None  # of all rows, if each update may change all; zero between updates
        self.lent: list[tuple[Tensor, Tensor]] = []  # indices and rows that the reader has read since `zero_grad`
        self.state: State = {}  # what torch's optimiser keeps of all rows
        self.step = 0  # updates so far
        self.row_step = torch.zeros(len(table), dtype=torch.int64)  # updates that each row has had
        self.rates = torch.zeros(PERIOD, dtype=torch.float64)  # the learning rate of update t at t % PERIOD
        self.changed = self.row_step[:0]  # the rows of `gradient` that the present update has filled
        table.lend = self.lend  # type: ignore[attr-defined]

    def lend(self, indices: Tensor) -> Tensor:
        """Bring the rows up to date and return them as a leaf, which gathers their gradient: (n,) → (n, width)."""
        self.bring_up_to_date(indices)
        leaf = self.table.detach().index_select(0, indices).requires_grad_()
        self.lent.append((indices, leaf))
        return leaf

    def collect(self) -> None:
        """Give `rows` the gradients of the rows that were read."""
        read = [(indices, leaf.grad) for indices, leaf in self.lent if leaf.grad is not None]
        if len(read) == 1:
            indices, gradient = read[0]
        else:  # several slices of a batch, or none
            indices = torch.cat([self.row_step[:0], *(indices for indices, _ in read)])
            gradient = torch.cat([self.table.detach()[:0], *(grad for _, grad in read)])
        distinct, place = indices.unique(return_inverse=True)  # type: ignore[no-untyped-call]
        if len(distinct) < len(indices):
            gradient = gradient.new_zeros(len(distinct), *gradient.shape[1:]).index_add_(0, place, gradient)
            indices = distinct
        if self.table.grad is None:
            self.fill(indices, gradient)
        else:  # the reader has read the table otherwise too
            self.fill(None, self.table.grad.index_add_(0, indices, gradient))

    def fill(self, indices: Tensor | None, gradient: Tensor) -> None:
        """Let `rows` be those at the indices, or all, with this gradient."""
        self.indices = indices
        self.rows.grad = None
        self.rows.data = self.table.detach() if indices is None else self.table.detach().index_select(0, indices)
        self.rows.grad = gradient

    def taken(self) -> State:
        """The state of the rows, for torch's optimiser to update."""
        if self.every and self.indices is not None and self.rows.grad is not None:
            if self.gradient is None:
                self.gradient = torch.zeros_like(self.table, requires_grad=False)
            self.changed = self.indices
            self.fill(None, self.gradient.index_copy_(0, self.indices, self.rows.grad))
        if self.indices is None:
            return dict(self.state)
        return {key: value.index_select(0, self.indices) if value.dim() else value for key, value in self.state.items()}

    def put(self, state: Mapping[str, Tensor | None], rate: float) -> None:
        """Write the updated rows and their state back."""
        self.step += 1
        self.rates[self.step % PERIOD] = rate
        updated = {key: value for key, value in state.items() if value is not None}  # an unused momentum is None
        if self.indices is None:
            self.state = updated
            self.row_step.fill_(self.step)
            if self.gradient is not None:
                self.gradient.index_fill_(0, self.changed, 0)
            return
        for key, value in updated.items():
            if not value.dim():
                self.state[key] = value
                continue
            if key not in self.state:
                self.state[key] = torch.zeros_like(self.table, requires_grad=False)
            self.state[key].index_copy_(0, self.indices, value)
        self.table.detach().index_copy_(0, self.indices, self.rows.detach())
        self.row_step[self.indices] = self.step
        if self.step < PERIOD or self.step % PERIOD == 0:
            self.bring_up_to_date()

    def bring_up_to_date(self, indices: Tensor | None = None) -> None:
        """Make the updates without a gradient that the rows at these indices, or all rows, still wait for."""
        if self.skip is None:
            return
        behind = self.row_step < self.step
        if indices is not None:
            behind &= torch.zeros_like(behind).index_fill_(0, indices, True)
        waiting = behind.nonzero().flatten()
        if not len(waiting):
            return
        since, place = self.row_step[waiting].unique(return_inverse=True)  # type: ignore[no-untyped-call]
        factors = self.skip.factors(self.missed_rates(since), since, self.step)[place].to(self.table.dtype)  # (n, F)
        size = max(1, CHUNK // self.table[0].numel())
        for start in range(0, len(waiting), size):
            part, numbers = waiting[start : start + size], factors[start : start + size]
            values = self.table.detach().index_select(0, part)
            state = {key: self.state[key].index_select(0, part) for key in self.skip.states}
            self.skip.apply(values, state, *(each.unsqueeze(1) for each in numbers.unbind(dim=1)))
            self.table.detach().index_copy_(0, part, values)
            for key, value in state.items():
                self.state[key].index_copy_(0, part, value)
        self.row_step[waiting] = self.step

    def missed_rates(self, since: Tensor) -> Tensor:
        """The learning rates of the updates after each of `since`, with zeros after the last: (S,) → (S, K)."""
        update = since.unsqueeze(1) + torch.arange(1, self.step - int(since.min()) + 1)  # (S, K)
        return self.rates[update % PERIOD].masked_fill(update > self.step, 0)

    def kept(self) -> State:
        """The state of the table for the checkpoint; it stores the rows as they are, with the updates they wait for."""
        waits = {"row_step": self.row_step, "rates": self.rates} if self.skip and self.state else {}
        return {**self.state, **waits}

    def restore(self, state: State) -> None:
        """Restore what `kept` returned, or the state of an optimiser that updates all rows each time."""
        self.state = {key: value for key, value in state.items() if key not in ("row_step", "rates")}
        self.step = int(self.state["step"]) if "step" in self.state else 0
        self.row_step = state.get("row_step", torch.full((len(self.table),), self.step))
        self.rates = state.get("rates", torch.zeros(PERIOD, dtype=torch.float64))


class Skip(Protocol):
    """Updates of an optimiser without a gradient, many at once."""

    @property
    def states(self) -> Sequence[str]:
        """The names of the states that such updates change."""

    def factors(self, rates: Tensor, since: Tensor, step: int) -> Tensor:
        """The numbers that `apply` needs for rows that were up to date at `since` (S,): (S, F).

        `rates` (S, K) are the learning rates of the updates since then, with zeros after the last one, `step`.
        """

    def apply(self, values: Tensor, state: State, *factors: Tensor) -> None:
        """Change the rows (n, width) and their state in place; each of the F factors is (n, 1)."""


class AdamSkip:
    """Adam without a gradient: after k updates m and v have become m β₁ᵏ and v β₂ᵏ.

    The k-th update subtracts w_k m / (a_k √v + ε), with w_k = rate_k β₁ᵏ / (1 − β₁ᵗ) and a_k = √(β₂ᵏ / (1 − β₂ᵗ)), t
    the number of the update. Their sum has no closed form, but the a_k that count are nearly equal: w_k falls by a
    tenth with each k, a_k by a two-thousandth. With ā their mean under the weights w_k, d_k = a_k / ā − 1,
    y = ā √v + ε and u = 1 − ε / y, the term is w_k m / y · 1 / (1 + u d_k), and the geometric series of its last
    factor is summed up to u⁴; D_j = Σ w_k d_kʲ, and D_1 = 0.
    """

    states = ("exp_avg", "exp_avg_sq")

    def __init__(self, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8) -> None:
        self.betas, self.eps = betas, eps

    def factors(self, rates: Tensor, since: Tensor, step: int) -> Tensor:
        """ā, D_0, D_2, D_3, D_4, and the decays of m and v."""
        k = torch.arange(1, rates.shape[1] + 1, dtype=torch.float64)  # (K,)
        t = since.unsqueeze(1) + k  # (S, K)
        first, second = self.betas
        w = rates * first**k / (1 - first**t)  # (S, K)
        a = (second**k / (1 - second**t)).sqrt()  # (S, K)
        total = w.sum(dim=1, keepdim=True)  # (S, 1)
        mean = torch.where(total > 0, (w * a).sum(dim=1, keepdim=True) / total, 1.0)  # (S, 1)
        d = a / mean - 1
        moments = [(w * d**j).sum(dim=1) for j in (0, 2, 3, 4)]  # (S,) each
        waited = step - since
        return torch.stack([mean.squeeze(1), *moments, first**waited, second**waited], dim=1)

    def apply(self, values: Tensor, state: State, *factors: Tensor) -> None:
        """Subtract the sum of the updates; in place, because the time goes into memory."""
        mean, d0, d2, d3, d4, decay, square_decay = factors
        m, v = state["exp_avg"], state["exp_avg_sq"]
        y = v.sqrt().mul_(mean).add_(self.eps)
        u = y.reciprocal().mul_(-self.eps).add_(1)
        series = (u * d4).sub_(d3).mul_(u).add_(d2).mul_(u).mul_(u).add_(d0)  # D_0 + D_2 u² − D_3 u³ + D_4 u⁴
        values.sub_(series.div_(y).mul_(m))
        m.mul_(decay)
        v.mul_(square_decay)


class DecaySkip:
    """RMSprop and Adadelta without a gradient: their averages decay, and the row moves by what is left of momentum."""

    def __init__(self, rho: float, averages: tuple[str, ...], momentum: float = 0.0) -> None:
        self.rho, self.averages, self.momentum = rho, averages, momentum
        self.states = (*averages, "momentum_buffer") if momentum else averages

    def factors(self, rates: Tensor, since: Tensor, step: int) -> Tensor:
        """The sum of the decayed learning rates, and the decays of averages and momentum."""
        k = torch.arange(1, rates.shape[1] + 1, dtype=torch.float64)
        waited = (step - since).double()
        return torch.stack([(rates * self.momentum**k).sum(dim=1), self.rho**waited, self.momentum**waited], dim=1)

    def apply(self, values: Tensor, state: State, *factors: Tensor) -> None:
        steps, average_decay, decay = factors
        for name in self.averages:
            state[name].mul_(average_decay)
        if self.momentum:
            values.sub_(steps * state["momentum_buffer"])
            state["momentum_buffer"].mul_(decay)


SKIPS: dict[OptimiserName, Callable[[TrainConfig], Skip | None]] = {
    "adam": lambda recipe: AdamSkip(),
    "sgd": lambda recipe: None,
    "rmsprop": lambda recipe: DecaySkip(recipe.rho, ("square_avg",), recipe.momentum),
    "adadelta": lambda recipe: DecaySkip(recipe.rho, ("square_avg", "acc_delta")),
}
"""What updates without a gradient do, by the names that `train.optimiser` takes."""
