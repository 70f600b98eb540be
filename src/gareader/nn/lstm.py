"""The bidirectional LSTM: torch.nn.LSTM behind the interface of the BiGRU."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


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
        """(B, T, inputs), (B, T) → (B, T, 2 hidden), zeros behind the end; every sequence has a real step."""
        lengths = mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(sequence, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=mask.shape[1])
        return states
