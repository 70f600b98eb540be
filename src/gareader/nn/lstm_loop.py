"""An LSTM as a loop over steps, for readers that need cells or peepholes, which torch.nn.LSTM lacks."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

State = tuple[Tensor, Tensor]

_d_sigmoid, _d_tanh = torch.ops.aten.sigmoid_backward, torch.ops.aten.tanh_backward


class LSTMLoop(nn.Module):
    """The recurrence of an LSTM; the weights belong to the reader."""

    def forward(
        self, steps: Tensor, recurrent_weight: Tensor, peepholes: Tensor | None = None, state: State | None = None
    ) -> State:
        """Inputs W x + b of N texts (T, N, 4H), U (H, 4H) → the states h and the cells c after each step, (T, N, H).

        Gates are in the order f, i, g, o. `peepholes` (3, H) are the weights of c in f, i and o. `state` is h and c
        before the first step, (N, H) each; zeros by default. Steps are not masked: index the states at the end of each
        text.
        """
        dtype = recurrent_weight.dtype
        with torch.autocast(steps.device.type, enabled=False):
            if peepholes is None:
                peepholes = recurrent_weight.new_zeros(3, len(recurrent_weight))
            h, c = state or (recurrent_weight.new_zeros(steps.shape[1], len(recurrent_weight)),) * 2
            states, cells = _Loop.apply(  # type: ignore[no-untyped-call]
                steps.to(dtype), recurrent_weight, peepholes, h.to(dtype), c.to(dtype)
            )
        return states, cells


class _Loop(torch.autograd.Function):
    """The backward pass keeps the gradients of all steps and computes d_weight in one product, not one per step."""

    @staticmethod
    def forward(ctx: Any, steps: Tensor, weight: Tensor, peepholes: Tensor, h: Tensor, c: Tensor) -> State:
        gates = torch.empty_like(steps, memory_format=torch.contiguous_format)  # (T, N, 4H)
        states, cells = (steps.new_empty(*steps.shape[:2], len(weight)) for _ in range(2))  # (T, N, H)
        ctx.save_for_backward(weight, peepholes, h, c, gates, states, cells)
        for t, step in enumerate(steps.unbind()):
            torch.addmm(step, h, weight, out=gates[t])
            f, i, g, o = gates[t].chunk(4, dim=1)  # (N, H) each
            f.addcmul_(peepholes[0], c).sigmoid_()
            i.addcmul_(peepholes[1], c).sigmoid_()
            c = torch.mul(f, c, out=cells[t]).addcmul_(i, g.tanh_())
            o.addcmul_(peepholes[2], c).sigmoid_()
            h = torch.mul(o, c.tanh(), out=states[t])
        return states, cells

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_states: Tensor, d_cells: Tensor) -> tuple[Tensor | None, ...]:
        weight, peepholes, h, c, gates, states, cells = ctx.saved_tensors
        before_h, before_c = torch.cat([h.unsqueeze(0), states[:-1]]), torch.cat([c.unsqueeze(0), cells[:-1]])
        d_steps, transposed = torch.empty_like(gates), weight.T.contiguous()
        d_h, d_c = torch.zeros_like(h), torch.zeros_like(c)  # gradients of the state after step t, from later steps
        for t in reversed(range(len(gates))):
            f, i, g, o = gates[t].chunk(4, dim=1)
            tanh_c = cells[t].tanh()
            d_h = d_h + d_states[t]
            d_o = _d_sigmoid(d_h * tanh_c, o)
            d_c = d_c + d_cells[t] + _d_tanh(d_h * o, tanh_c) + d_o * peepholes[2]
            d_f, d_i = _d_sigmoid(d_c * before_c[t], f), _d_sigmoid(d_c * g, i)
            torch.cat([d_f, d_i, _d_tanh(d_c * i, g), d_o], dim=1, out=d_steps[t])
            d_c = (d_c * f).addcmul_(d_f, peepholes[0]).addcmul_(d_i, peepholes[1])
            d_h = d_steps[t] @ transposed
        d_weight = before_h.flatten(0, 1).T @ d_steps.flatten(0, 1)
        d_peepholes = None
        if ctx.needs_input_grad[2]:
            peephole_cells = (before_c, before_c, None, cells)  # of f, i, g and o
            parts = zip(d_steps.chunk(4, dim=2), peephole_cells, strict=True)
            d_peepholes = torch.stack([(d * c).sum(dim=(0, 1)) for d, c in parts if c is not None])
        return d_steps, d_weight, d_peepholes, d_h, d_c
