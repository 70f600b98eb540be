"""The character CNN by hand, and padding."""

import torch

from gareader.nn.character_cnn import CharacterCNN


def test_by_hand():
    layer = CharacterCNN(3, 2, inputs=1, span=3)
    with torch.no_grad():
        layer.table.copy_(torch.tensor([[5.0], [1.0], [-2.0]]))
        layer.weight.copy_(torch.tensor([[[1.0, 0.0, 0.0]], [[1.0, 10.0, 100.0]]]))  # the letter before; all three
        layer.bias.copy_(torch.tensor([0.5, 0.0]))
    characters = torch.tensor([[1, 2, 1], [2, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    got = layer(characters, mask)
    # Word 1: before its letters stand 0, 1, −2; the sums are 10 − 200, 1 − 20 + 100, −2 + 10. Word 2: 0; 10 · −2.
    assert got.tolist() == [[1.5, 81.0], [0.5, 0.0]]


def test_padding_changes_nothing():
    layer = CharacterCNN(9, 4, generator=torch.Generator().manual_seed(1)).double()
    characters = torch.randint(9, (2, 8), generator=torch.Generator().manual_seed(2))
    mask = torch.arange(8) < torch.tensor([[8], [3]])
    with torch.no_grad():
        torch.testing.assert_close(layer(characters, mask)[1:], layer(characters[1:, :3], mask[1:, :3]))
