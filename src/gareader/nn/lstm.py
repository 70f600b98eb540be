"""The bidirectional LSTM: torch.nn.LSTM behind the interface of the BiGRU."""

import torch
from torch import Tensor, nn


class BiLSTM(nn.Module):
    """States [h^f_1 ‖ h^b_1, …, h^f_T ‖ h^b_T]; one bias per gate learns, the other is zero and fixed."""

    def __init__(
        self, inputs: int, hidden: int, *, generator: torch.Generator | None = None, scale: float = 0.1
    ) -> None:
        """Weights are drawn from a normal distribution of that scale; biases are zero."""
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the first weights that it draws itself are overwritten
            self.lstm = nn.LSTM(inputs, hidden, batch_first=True, bidirectional=True)
        for name, weight in self.lstm.named_parameters():
            if name.startswith("weight"):
                weight.data.normal_(0, scale, generator=generator)
            else:
                weight.data.zero_()
            weight.requires_grad = not name.startswith("bias_hh")

    def forward(self, sequence: Tensor, mask: Tensor) -> Tensor:
        """(B, T, inputs), (B, T) → (B, T, 2 hidden), zeros behind the end.

        Each direction reads by itself, the second every sequence from its own end: torch's packed sequences would do
        the same, but their gradient is as large as all steps at each of them.
        """
        places = torch.arange(mask.shape[1], device=mask.device)
        turned = torch.where(mask, mask.sum(dim=1, keepdim=True) - 1 - places, places)  # (B, T)
        rows = torch.arange(len(mask), device=mask.device).unsqueeze(1)  # (B, 1)
        forward = self.direction(sequence, "")  # (B, T, hidden)
        backward = self.direction(sequence[rows, turned], "_reverse")[rows, turned]  # (B, T, hidden)
        return torch.cat([forward, backward], dim=-1) * mask.unsqueeze(-1)

    def direction(self, sequence: Tensor, name: str) -> Tensor:
        """One direction's states, from the first step on."""
        weights = [getattr(self.lstm, f"{kind}_l0{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        zero = sequence.new_zeros(1, len(sequence), self.lstm.hidden_size)
        return torch.lstm(sequence, (zero, zero), weights, True, 1, 0.0, self.training, False, True)[0]
