"""The Gated-Attention Reader in numpy: equal to the one on torch, with the native library and without it."""

import numpy as np
import pytest
import torch

import synthetic
from gareader.core.errors import ConfigError
from gareader.data.arrays import TABLE
from gareader.data.examples import PLACEHOLDER, Example
from gareader.kernels import layers, library
from gareader.nn import native
from gareader.nn.tensors import tensors
from gareader.readers.gated_attention_numpy import GatedAttentionInNumpy, shapes
from gareader.readers.settings import GatedAttentionConfig
from gareader.trained.model import arrays
from readers.test_contract import COLLATE, build
from readers.variants import VARIANTS

OWN = {name: variant for name, variant in VARIANTS.items() if name.startswith("gated-attention")}
LOST = Example("lost", ("nothing", "here"), (PLACEHOLDER, "has"), (("Ann",), ("Ben",)), None)
EXAMPLES = [*synthetic.corpus(6, seed=3), LOST]


def twins(name, precision="float32"):
    """A reader on torch and the same in numpy, with weights far from small."""
    kind, config = OWN[name]
    assert isinstance(config, GatedAttentionConfig)
    reader = build(kind, config, dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in reader.parameters():
            weight.normal_(0, 0.4, generator=generator)
    weights = arrays(reader)
    words = weights.pop(TABLE)
    return reader, GatedAttentionInNumpy(config, weights, words, len(COLLATE.alphabet), precision)


@pytest.fixture(params=["native", "numpy"])
def way(request, monkeypatch):
    """With the native library, and where it was not built."""
    if request.param == "numpy":
        monkeypatch.setattr(layers, "library", lambda: None)
    elif library.library() is None:
        pytest.skip("needs the native kernel, which was not built")
    return request.param


@pytest.mark.parametrize("name", OWN)
def test_it_reads_as_on_torch(name, way):
    on_torch, in_numpy = twins(name)
    batch = COLLATE(EXAMPLES)
    with torch.inference_mode():
        expected = on_torch(tensors(batch), attention=True)
    output = in_numpy(batch, attention=True)
    np.testing.assert_allclose(
        np.exp(output.log_probabilities), expected.log_probabilities.exp().numpy(), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(output.document_attention, expected.document_attention.numpy(), rtol=0, atol=1e-5)
    assert len(output.hop_attention) == len(expected.hop_attention)
    for hop, other in zip(output.hop_attention, expected.hop_attention, strict=True):
        np.testing.assert_allclose(hop, other.numpy(), rtol=0, atol=1e-5)
    plain = in_numpy(batch)
    assert plain.document_attention is None
    np.testing.assert_array_equal(plain.log_probabilities, output.log_probabilities)


def test_a_question_without_candidates_in_the_document(way):
    output = twins("gated-attention: default")[1](COLLATE([LOST]))
    assert np.isneginf(output.log_probabilities).all()


@pytest.mark.parametrize("name", OWN)
def test_in_bf16_it_reads_as_on_torch(name):
    if library.library() is None:
        pytest.skip("needs the native kernel, which was not built")
    on_torch, in_numpy = twins(name, "bf16")
    batch = COLLATE(EXAMPLES)
    with torch.inference_mode(), native.products_in("bf16"):
        expected = on_torch(tensors(batch)).log_probabilities.exp().numpy()
    found = np.exp(in_numpy(batch).log_probabilities)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)  # a last bit of float32 can be one of bf16 later
    exact = np.exp(twins(name)[1](batch).log_probabilities)
    assert not np.array_equal(found, exact)
    np.testing.assert_allclose(found, exact, rtol=0, atol=0.1)


@pytest.mark.parametrize("precision", library.PRECISIONS)
def test_neither_threads_nor_repetition_change_a_bit(way, precision, monkeypatch):
    in_numpy = twins("gated-attention: default", precision)[1]
    batch = COLLATE(EXAMPLES * 3)
    seen = []
    for threads in (1, 2, 3, 2):
        monkeypatch.setattr(layers, "threads", lambda threads=threads: threads)
        seen.append(in_numpy(batch).log_probabilities.tobytes())
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights.pop("feature"), r"feature is missing where \(2, 2\) is due"),
        (lambda weights: weights.update(more=np.zeros(3)), r"more is \(3,\) where nothing is due"),
        (lambda weights: weights.update(feature=np.zeros((3, 2))), r"feature is \(3, 2\) where \(2, 2\) is due"),
    ],
)
def test_weights_of_other_names_or_shapes(change, message):
    in_numpy = twins("gated-attention: default")[1]
    weights = dict(in_numpy.weights)
    change(weights)
    with pytest.raises(ConfigError, match=message):
        GatedAttentionInNumpy(in_numpy.config, weights, in_numpy.words, len(COLLATE.alphabet))


@pytest.mark.parametrize("name", OWN)
def test_shapes_are_those_of_the_reader_on_torch(name):
    reader, in_numpy = twins(name)
    expected = {name: tuple(value.shape) for name, value in reader.state_dict().items() if name != TABLE}
    assert shapes(in_numpy.config, in_numpy.words.shape[1], len(COLLATE.alphabet)) == expected


def test_sequences_that_do_not_fit_the_weights():
    weights = (np.zeros((2, 5, 9), np.float32), np.zeros((2, 3, 9), np.float32), np.zeros((2, 1, 1, 9), np.float32))
    if library.library() is None:
        pytest.skip("needs the native kernel, which was not built")
    with pytest.raises(ValueError, match="sequences"):
        layers.BiGRU(weights, "paper")(np.zeros((2, 4, 6), np.float32), np.ones((2, 4), bool))


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_weights_of_another_precision_are_converted(way, dtype):
    in_numpy = twins("gated-attention: default")[1]
    batch = COLLATE(EXAMPLES)
    weights = {name: value.astype(dtype) for name, value in in_numpy.weights.items()}
    rounded = {name: value.astype(np.float32) for name, value in weights.items()}
    given, expected = (
        GatedAttentionInNumpy(in_numpy.config, each, words, len(COLLATE.alphabet))(batch).log_probabilities
        for each, words in ((weights, in_numpy.words.astype(np.float64)), (rounded, in_numpy.words))
    )
    np.testing.assert_allclose(np.exp(given), np.exp(expected), rtol=0, atol=1e-5)
