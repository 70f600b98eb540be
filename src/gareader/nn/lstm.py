"""The bidirectional LSTM: torch.nn.LSTM with the interface of the BiGRU."""

import torch
from torch import Tensor, nn


class BiLSTM(nn.Module):
    """States [h^f_1 ‖ h^b_1, …, h^f_T ‖ h^b_T]; one bias per gate is trained, torch's second one stays zero."""

    def __init__(
        self, inputs: int, hidden: int, *, generator: torch.Generator | None = None, scale: float = 0.1
    ) -> None:
        """Weights are drawn from a normal distribution of deviation `scale`; biases are zero."""
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # nn.LSTM draws weights of its own, which are replaced below
            self.lstm = nn.LSTM(inputs, hidden, batch_first=True, bidirectional=True)
        for name, weight in self.lstm.named_parameters():
            if name.startswith("weight"):
                weight.data.normal_(0, scale, generator=generator)
            else:
                weight.data.zero_()
            weight.requires_grad = not name.startswith("bias_hh")

    def forward(self, sequence: Tensor, mask: Tensor) -> Tensor:
        """(B, T, inputs), (B, T) → (B, T, 2 hidden); outputs of masked steps are zero.

        The backward direction gets every sequence reversed within its own length. torch's packed sequences compute the
        same, but each of their steps has a gradient as large as all steps.
        """
        positions = torch.arange(mask.shape[1], device=mask.device)  # (T,)
        reverse = torch.where(mask, mask.sum(dim=1, keepdim=True) - 1 - positions, positions)  # (B, T)
        rows = torch.arange(len(mask), device=mask.device).unsqueeze(1)  # (B, 1)
        forward = self.direction(sequence, "")  # (B, T, hidden)
        backward = self.direction(sequence[rows, reverse], "_reverse")[rows, reverse]  # (B, T, hidden)
        return torch.cat([forward, backward], dim=-1) * mask.unsqueeze(-1)

    def direction(self, sequence: Tensor, name: str) -> Tensor:
        """The states of one direction: (B, T, inputs) → (B, T, hidden)."""
        weights = [getattr(self.lstm, f"{kind}_l0{name}") for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        zero = sequence.new_zeros(1, len(sequence), self.lstm.hidden_size)
        return torch.lstm(sequence, (zero, zero), weights, True, 1, 0.0, self.training, False, True)[0]
