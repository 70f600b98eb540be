"""The whole Gated-Attention Reader against a literal transcription of the paper, for every variant."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.data.examples import Example
from gareader.nn.tensors import tensors
from gareader.readers.features import ROWS, distance_to_end, in_query, mention_count
from gareader.readers.gated_attention_reader import GatedAttentionReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import GatedAttentionConfig
from readers import questions
from readers.questions import QUESTIONS, assert_answers, gradients_are_right, vector, wrapped
from readers.variants import VARIANTS


def build(config):
    return questions.build(GatedAttentionReader, config)


def transcribed(reader, collator):
    """The reader's parameters as reference.read wants them."""
    config, letters = reader.config, reader.embed.characters

    def embed(word):
        if letters is None:
            return vector(reader, word)
        table, weight, bias = (t.detach().numpy() for t in (letters.table, letters.weight, letters.bias))
        codes, directions = collator.alphabet.encode([word], 10)[0][0], reference.gru_parameters(letters.gru)
        composed = reference.character_embedding(codes, table, directions, weight, bias, config.cell)
        return np.concatenate([vector(reader, word), composed])

    return {
        "embed": embed,
        "hops": config.hops,
        "cell": config.cell,
        "pointer": config.pointer,
        "gate": config.gate,
        "query_attention": config.query_attention,
        "document": [reference.gru_parameters(gru) for gru in reader.document_grus],
        "query": [reference.gru_parameters(gru) for gru in reader.query_grus],
        "feature": None if reader.feature is None else reader.feature.detach().numpy(),
        "more_features": {name: table.detach().numpy() for name, table in reader.more_features.items()},
    }


def read_as_before(model, document, query, candidates):
    """GA--, the reader's earlier form: x_i = d_i ⊙ q in every layer, with q the final states of its query Bi-GRU."""
    X = [model["embed"](word) for word in document]
    Y = [model["embed"](word) for word in wrapped(query)]
    for document_gru, query_gru in zip(model["document"], model["query"], strict=True):
        D = reference.bigru(X, *document_gru)
        Q = reference.bigru(Y, *query_gru)
        H = len(Q[0]) // 2
        q = np.concatenate([Q[-1][:H], Q[0][H:]])
        X = [d_i * q for d_i in D]
    s = reference.softmax(np.array([d_i @ q for d_i in D]))
    return reference.candidate_probabilities(s, document, candidates), [], s


QUOTED = Example(
    "quoted", tuple("`` x , '' y ran . `` Tom !".split()), tuple("so @placeholder ran".split()), (("x",), ("y",)), 1
)


@pytest.mark.parametrize("name", [name for name in VARIANTS if name.startswith("gated-attention:")])
def test_equals_the_paper(name):
    asked = [*QUESTIONS, QUOTED]
    reader, collator = build(VARIANTS[name][1])
    output = reader(tensors(collator(asked)), attention=True)
    model = transcribed(reader, collator)
    read = read_as_before if reader.config.cloze == "ends" else reference.read
    for b, question in enumerate(asked):
        D, Q = len(question.document), len(question.query) + 2
        probabilities, alphas, s = read(model, question.document, question.query, question.candidates)
        assert_answers(output, b, question, probabilities)
        np.testing.assert_allclose(output.document_attention[b, :D].detach().numpy(), s, rtol=1e-9)
        assert len(output.hop_attention) == len(alphas)
        for got, alpha in zip(output.hop_attention, alphas, strict=True):
            np.testing.assert_allclose(got[b, :D, :Q].detach().numpy(), alpha, rtol=1e-9)


QUICK = ("gated-attention: default", "gated-attention: all features", "gated-attention: GA--")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in VARIANTS
        if name.startswith("gated-attention:")
    ],
)
def test_gradients_of_the_whole_reader(name):
    config = VARIANTS[name][1]
    assert isinstance(config, GatedAttentionConfig)
    reader, collator = build(replace(config, hidden=2))
    batch = tensors(collator(QUESTIONS))
    assert gradients_are_right(reader, batch, answer_loss)


def test_attention_comes_on_request_only():
    reader, collator = build(GatedAttentionConfig(hidden=4))
    output = reader(tensors(collator(QUESTIONS)))
    assert output.hop_attention == ()
    assert output.document_attention is None


def test_attention_sums_to_one_on_real_tokens():
    reader, collator = build(GatedAttentionConfig(hidden=4))
    batch = tensors(collator(QUESTIONS))
    output = reader(batch, attention=True)
    assert len(output.hop_attention) == 2
    assert (output.document_attention[~batch.document_mask] == 0).all()
    torch.testing.assert_close(output.document_attention.sum(-1), torch.ones(2, dtype=torch.float64))


def test_question_words_are_found_in_the_document():
    _, collator = build(GatedAttentionConfig(hidden=4))
    batch = tensors(collator(QUESTIONS))
    marked = [
        [word for word, mark in zip(question.document, row.tolist(), strict=False) if mark]
        for question, row in zip(QUESTIONS, in_query(batch), strict=True)
    ]
    assert marked == [["Tom", ".", "ran", "Tom", "."], []]


def test_mentions_are_counted_on_a_logarithmic_scale():
    document = ("a", *["b"] * 3, *["c"] * 300, "d")
    question = Example("counts", document, ("@placeholder",), (("a",), ("b",), ("c",)), 0)
    _, collator = build(GatedAttentionConfig(hidden=4))
    row = mention_count(tensors(collator([question])))[0].tolist()
    assert (row[0], row[1], row[4], row[-1]) == (1, 2, ROWS - 1, 0)


def test_distance_is_counted_on_a_logarithmic_scale():
    _, collator = build(GatedAttentionConfig(hidden=4))
    lengths = 200, 4
    asked = [Example("far", ("a",) * length, ("@placeholder",), (("a",), ("b",)), 0) for length in lengths]
    long, short = distance_to_end(tensors(collator(asked))).tolist()
    assert (long[0], long[-8:]) == (ROWS - 1, [3, 2, 2, 2, 2, 1, 1, 0])
    assert (short[:4], set(short[4:])) == ([2, 1, 1, 0], {0})


def test_dropout_falls_on_the_gated_attention_only():
    """Dropped numbers change hops 2 … K, but not the first hop's attention nor a reader of one hop."""
    for hops, differs in ((1, False), (3, True)):
        reader, collator = build(GatedAttentionConfig(hidden=4, hops=hops, dropout=0.5))
        batch = tensors(collator(QUESTIONS))
        with torch.random.fork_rng():
            torch.manual_seed(0)
            dropped = reader.train()(batch, attention=True)
        kept = reader.eval()(batch, attention=True)
        same = torch.equal(dropped.log_probabilities, kept.log_probabilities)
        assert same is not differs
        if hops == 3:
            assert torch.equal(dropped.hop_attention[0], kept.hop_attention[0])
            assert not torch.equal(dropped.hop_attention[1], kept.hop_attention[1])


def test_initial_tables():
    reader = GatedAttentionReader(
        GatedAttentionConfig(), Basis(torch.zeros(1, 100), 1000, generator=torch.Generator().manual_seed(0))
    )
    letters = reader.embed.characters
    assert letters is not None
    assert letters.table.shape == (1000, 25)
    assert letters.table.std().item() == pytest.approx(0.01, rel=0.05)
    assert letters.weight.abs().max().item() == pytest.approx((6 / 100) ** 0.5, rel=0.02)  # Glorot's bound, 50 + 50
    assert (letters.bias == 0).all()
    assert reader.feature is not None
    assert reader.feature.abs().max().item() < 0.05
    assert reader.document_grus[0].input_weight.shape == (2, 150, 384)
    assert reader.document_grus[2].input_weight.shape == (2, 258, 384)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"gate": "multipy"}, "gate = 'multipy' is not known; did you mean 'multiply'?"),
        ({"query_attention": "tokens"}, "query_attention = 'tokens' is not known; did you mean 'token'?"),
        ({"cloze": "end"}, "cloze = 'end' is not known; did you mean 'ends'?"),
        ({"cell": "lasagne"}, "cell = 'lasagne' is not known; known: cudnn, paper"),
        ({"hops": 0}, "hops = 0 is too small; use 1 or more"),
        ({"hidden": 0}, "hidden = 0 is too small"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        GatedAttentionConfig(**setting)
    assert message in str(error.value)
