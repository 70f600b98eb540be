"""BiDAF, Bi-Directional Attention Flow, as its authors changed it for cloze questions.

Minjoon Seo, Aniruddha Kembhavi, Ali Farhadi, Hannaneh Hajishirzi:
Bidirectional Attention Flow for Machine Comprehension. ICLR 2017.

B examples, C candidates, M windows of a document, W words of a window, T = M · W, Q query tokens, E token embedding,
H = d LSTM units per direction. Each mention of a candidate is the centre of a window. The LSTMs read every window
separately; the attention is over all windows of a document. A word in several windows is read in each and counts in
each.

The softmax is over the mentions of candidates (other words are masked), so the loss is −log Pr(answer).
`hop_attention` is a, the mean over a word's windows, zero for words outside all windows; `document_attention` is the
softmax, summed over a word's windows.

Departures, and choices that the paper leaves open:
- A word has its first 10 characters, as in all readers, not its first 16.
- The filters are centred on the characters of a word, with zeros beyond its ends; the paper does not say.
- Dropout before the character CNN has one mask per distinct word of a batch, not one per token.
- Initial weights: N(0, 0.1) for LSTMs and characters, Glorot uniform for the other matrices, zero for biases.
- Candidates keep their names on the Children's Book Test; the authors' code gives all entities of CNN one word.
- Each word of a candidate of several words is a mention, according to I(c, d).
- A document without any candidate has one window, around its first word, to which no probability is given.
- The query stands between its marks @begin and @end.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gareader.nn.dropout import Dropout
from gareader.nn.embedding import TokenEmbedding
from gareader.nn.lstm import BiLSTM
from gareader.nn.masked import masked_softmax
from gareader.nn.pointer_sum import pointer_sum
from gareader.nn.tensors import Batch
from gareader.readers.reader import Basis, ReaderOutput
from gareader.readers.settings import BiDAFConfig


class BiDAFReader(nn.Module):
    """Attends from the window of every mention to the query and back, then points at a mention."""

    def __init__(self, config: BiDAFConfig, basis: Basis) -> None:
        super().__init__()
        words, generator = basis.words, basis.generator
        self.config = config
        self.embed = TokenEmbedding(words, update_words=config.update_words)
        self.characters = CharacterCNN(basis.characters, dropout=config.dropout, generator=generator)
        token, state = words.shape[1] + self.characters.width, 2 * config.hidden  # E, 2H
        self.highway = nn.Sequential(*(Highway(token, generator=generator) for _ in range(2)))
        self.encode = BiLSTM(token, config.hidden, generator=generator)
        self.model = nn.ModuleList(BiLSTM(n, config.hidden, generator=generator) for n in (4 * state, state))
        self.match = nn.Parameter(nn.init.xavier_uniform_(torch.empty(3, state), generator=generator))  # w
        self.point = nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, 5 * state), generator=generator))  # w_p
        self.dropout = Dropout(config.dropout)

    def forward(self, batch: Batch, *, attention: bool = False) -> ReaderOutput:
        """Log-probabilities of the candidates; with `attention`, also a and the softmax over the document."""
        positions, mask = windows(batch, self.config.window)  # (B, M, W)
        rows = torch.arange(len(positions), device=positions.device)[:, None, None]  # (B, 1, 1)
        letters = self.characters(batch.types.characters, batch.types.character_mask)  # (types, 100)
        tokens = self.highway(torch.cat([self.embed(batch.types), letters], dim=-1))  # (types, E)
        h = self.encode_windows(self.encode, tokens[batch.document[rows, positions]], mask)  # (B, M, W, 2H)
        h = h.flatten(1, 2)  # (B, T, 2H)  H
        u = self.encode(self.dropout(tokens[batch.query]), batch.query_mask)  # (B, Q, 2H)  U
        real = mask.flatten(1)  # (B, T)

        w_h, w_u, w_both = self.match  # (2H,) each: w·[h; u; h⊙u] as three dot products
        s = (h @ w_h).unsqueeze(2) + (u @ w_u).unsqueeze(1) + (h * w_both) @ u.transpose(1, 2)  # (B, T, Q)  S
        a = masked_softmax(s, batch.query_mask.unsqueeze(1))  # (B, T, Q)  a_t
        best = s.masked_fill(~batch.query_mask.unsqueeze(1), -torch.inf).amax(dim=2)  # (B, T)  max_j S_tj
        b = masked_softmax(best, real)  # (B, T)  b
        u_tilde = a @ u  # (B, T, 2H)  ũ_t
        h_tilde = b.unsqueeze(1) @ h  # (B, 1, 2H)  h̃
        g = torch.cat([h, u_tilde, h * u_tilde, h * h_tilde], dim=-1)  # (B, T, 8H)  g_t
        m = g.view(*mask.shape, -1)  # (B, M, W, 8H)
        for lstm in self.model:
            m = self.encode_windows(lstm, m, mask)  # (B, M, W, 2H)
        joint = torch.cat([g, m.flatten(1, 2)], dim=-1)  # (B, T, 10H)  [g_t; m_t]
        scores = (self.dropout(joint) @ self.point.T).squeeze(-1)  # (B, T)  w_p·[g_t; m_t]

        positions = positions.flatten(1)  # (B, T)
        occurrence = batch.occurrence.gather(
            2, positions.unsqueeze(1).expand(-1, batch.occurrence.shape[1], -1)
        )  # (B, C, T)
        occurrence = occurrence & real.unsqueeze(1)  # (B, C, T)  I(c, windows of d)
        log_probabilities = pointer_sum(scores, occurrence)  # (B, C)  log Pr(c|d,q)
        if not attention:
            return ReaderOutput(log_probabilities)
        zeros = scores.new_zeros(batch.document.shape)  # (B, D)
        pointer = zeros.scatter_add(1, positions, masked_softmax(scores, occurrence.any(dim=1)))  # (B, D)
        copies = zeros.scatter_add(1, positions, real.to(zeros)).clamp(min=1)  # (B, D)
        hop = zeros.unsqueeze(2).repeat(1, 1, a.shape[2])  # (B, D, Q)
        hop = hop.scatter_add(1, positions.unsqueeze(2).expand_as(a), a * real.unsqueeze(2)) / copies.unsqueeze(2)
        return ReaderOutput(log_probabilities, (hop,), pointer)

    def encode_windows(self, lstm: nn.Module, values: Tensor, mask: Tensor) -> Tensor:
        """Run an LSTM over each window: (B, M, W, inputs), (B, M, W) → (B, M, W, 2H); masked windows are zero."""
        real = mask[:, :, 0]  # (B, M)
        window_states: Tensor = lstm(self.dropout(values[real]), mask[real])  # (real windows, W, 2H)
        states = window_states.new_zeros(*mask.shape, 2 * self.config.hidden)
        return states.index_put(real.nonzero(as_tuple=True), window_states)


def windows(batch: Batch, width: int) -> tuple[Tensor, Tensor]:
    """The document positions of the words around each mention, and their mask: (B, M, W) each."""
    centres = batch.occurrence.any(dim=1)  # (B, D)
    centres[:, 0] |= ~centres.any(dim=1)
    counts = centres.sum(dim=1)  # (B,)
    # A stable sort puts the mentions first and keeps their order.
    middle = centres.int().argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]  # (B, M)
    real = torch.arange(middle.shape[1], device=middle.device) < counts.unsqueeze(1)  # (B, M)
    start = (middle - width // 2).clamp(min=0).unsqueeze(2)  # (B, M, 1)
    positions = start + torch.arange(width, device=middle.device)  # (B, M, W)
    last = torch.minimum(middle + width // 2, batch.document_mask.sum(dim=1, keepdim=True) - 1)  # (B, M)
    mask = (positions <= last.unsqueeze(2)) & real.unsqueeze(2)
    return positions.clamp(max=batch.document.shape[1] - 1), mask


class CharacterCNN(nn.Module):
    """The maximum of each filter over the characters n of a word: max_n ReLU(F · [x_{n−2} … x_{n+2}] + b)."""

    def __init__(
        self,
        characters: int,
        width: int = 100,
        *,
        inputs: int = 8,
        span: int = 5,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> None:
        """`width` filters over `span` characters, an odd number, with vectors of `inputs` numbers and dropout."""
        super().__init__()
        self.width = width
        self.dropout = Dropout(dropout)
        self.table = nn.Parameter(torch.empty(characters, inputs).normal_(0, 0.1, generator=generator))
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(width, inputs, span), generator=generator))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, characters: Tensor, mask: Tensor) -> Tensor:
        """(T, N) characters of T words → (T, width); a word is padded with zeros at both ends."""
        letters = self.dropout(functional.embedding(characters, self.table)) * mask.unsqueeze(-1)  # (T, N, inputs)
        features = functional.conv1d(
            letters.transpose(1, 2), self.weight, self.bias, padding=self.weight.shape[-1] // 2
        )  # (T, width, N)
        # ReLU has no negative values, so the zeros of padding never change the maximum.
        return (functional.relu(features) * mask.unsqueeze(1)).amax(dim=-1)


class Highway(nn.Module):
    """g ⊙ ReLU(W x + b) + (1 − g) ⊙ x, with g = σ(W' x + b') (Srivastava, Greff and Schmidhuber 2015)."""

    def __init__(self, width: int, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        draws = (nn.init.xavier_uniform_(torch.empty(width, width), generator=generator) for _ in range(2))
        self.weight = nn.Parameter(torch.cat([*draws], dim=1))  # (E, 2E): W beside W'
        self.bias = nn.Parameter(torch.zeros(2 * width))

    def forward(self, values: Tensor) -> Tensor:
        """(…, width) → (…, width)."""
        new, gate = (values @ self.weight + self.bias).chunk(2, dim=-1)
        return torch.lerp(values, torch.relu(new).to(values), torch.sigmoid(gate).to(values))
