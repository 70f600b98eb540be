"""The EpiReader against a literal transcription of its equations, its loss, and what the K candidates are."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.data.examples import Example
from gareader.nn.tensors import tensors
from gareader.readers.epireader_reader import EpiReader, epireader_loss, ranks
from gareader.readers.reader import Basis, ReaderOutput, mass_loss
from gareader.readers.settings import EpiReaderConfig
from readers import questions
from readers.questions import arrays, gradients_are_right, vector, wrapped

QUESTIONS = [
    Example(
        "several words, overlapping, one missing",
        tuple("Mary Ann met Tom . Ann ran ! Tom Thumb did not ran with Mary".split()),
        tuple("then @placeholder ran home to Tom .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",), ("met",), ("did",)),
        1,
    ),
    Example("short", ("x", "y", ".", ".", "x"), ("@placeholder",), (("x",), ("y",)), 0),
]
E, SCALE = 4, 0.7
SMALL = EpiReaderConfig(hidden=3, extracted=3, filters=4, sentence_states=3, word_scale=SCALE, margin=0.3)


def build(config=SMALL, seed=1):
    return questions.build(EpiReader, config, 0.6, width=E, seed=seed)


def convolved(columns, filters, bias):
    """Filters three words wide over a matrix of columns, ReLU, and the maximum over time; zeros stand at the edges."""
    features = []
    for t in range(len(columns)):
        near = [columns[j] if 0 <= j < len(columns) else np.zeros_like(columns[0]) for j in (t - 1, t, t + 1)]
        features.append(
            [max(0.0, sum(f[j] @ near[j] for j in range(3)) + c) for f, c in zip(filters, bias, strict=True)]
        )
    return np.max(features, axis=0)


def transcribed(reader, question):
    """p over the document, and y, for every candidate."""
    embed = partial(vector, reader, scale=SCALE)
    d, q = question.document, wrapped(question.query)
    D, Q = [embed(word) for word in d], [embed(word) for word in q]
    f = reference.bigru(D, *reference.gru_parameters(reader.document_gru))
    g = reference.whole_query(reference.bigru(Q, *reference.gru_parameters(reader.query_gru)))
    s = reference.softmax(np.array([f_i @ g for f_i in f]))
    p = np.array([sum(s[i] for i in range(len(d)) if d[i] in candidate) for candidate in question.candidates])

    sentences, sentence = [], []
    for word in d:
        sentence.append(word)
        if word in (".", "!", "?"):
            sentences.append(sentence)
            sentence = []
    if sentence:
        sentences.append(sentence)

    F = reader.config.filters
    p_R = arrays(reader.reasoner)
    W, b = p_R["sentence_filters.weight"], p_R["sentence_filters.bias"]
    V = p_R["candidate_filters.weight"].reshape(F, 3, 1)
    sentence_filters = np.concatenate([W.reshape(F, 3, E + 1), V], axis=2)  # of height E + 2
    W_H, b_H = p_R["hypothesis_filters.weight"], p_R["hypothesis_filters.bias"]
    R, w = p_R["similarity.weight"], p_R["output.weight"][0]
    gru = reference.step_parameters(reader.reasoner.sentence_gru)

    y = []
    for candidate in question.candidates:
        c = sum(embed(word) for word in candidate) / len(candidate)
        hypothesis = [c if word == "@placeholder" else embed(word) for word in q]
        r_H = convolved(hypothesis, W_H.reshape(F, 3, E), b_H)
        h = np.zeros(reader.config.sentence_states)
        for words in sentences:
            columns = [np.concatenate([x, [max(x @ other for other in Q)], [x @ c]]) for x in map(embed, words)]
            r_S = convolved(columns, sentence_filters, b)
            sigma = r_S @ R @ r_H
            h = reference.gru_step(np.concatenate([[sigma], r_S, r_H]), h, gru)
        y.append(w @ h)
    return p, np.array(y), s


def handed_on(p, K):
    """The K most probable candidates that the document has."""
    return [k for k in sorted(range(len(p)), key=lambda k: -p[k])[:K] if p[k] > 0]


def combined(p, y, kept):
    e = reference.softmax(y[kept])
    pi = e * p[kept]
    return dict(zip(kept, pi / pi.sum(), strict=True))


def test_equals_the_paper():
    reader, collator = build()
    batch = tensors(collator(QUESTIONS))
    output = reader(batch, attention=True)
    assert output.hop_attention == ()
    for b, question in enumerate(QUESTIONS):
        C, D = len(question.candidates), len(question.document)
        p, y, s = transcribed(reader, question)
        pi = combined(p, y, handed_on(p, 3))
        unnormalised = np.array([pi.get(k, 1e-6 * p[k] / p.sum()) for k in range(C)])
        got = output.log_probabilities[b, :C].exp().detach().numpy()
        np.testing.assert_allclose(got, unnormalised / unnormalised.sum(), rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(output.log_mass[b, :C].exp().detach().numpy(), p, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(output.entailment[b, :C].detach().numpy(), y, rtol=1e-9)
        np.testing.assert_allclose(output.document_attention[b, :D].detach().numpy(), s, rtol=1e-9)
    assert reader(batch).document_attention is None


@pytest.mark.parametrize("answer", [0, 1, 2, 4, 5])
def test_loss_equals_the_paper(answer):
    """Some answers are among the three that are handed on; the others take the place of the third."""
    reader, collator = build()
    question = replace(QUESTIONS[0], answer=answer)
    p, y, _ = transcribed(reader, question)
    kept = handed_on(p, 3)
    if answer not in kept:
        kept = [*kept[:2], answer]
    pi = combined(p, y, kept)
    L_R = sum(max(0.0, 0.3 - pi[answer] + pi[k]) for k in kept if k != answer)
    batch = tensors(collator([question]))
    assert epireader_loss(reader(batch), batch).item() == pytest.approx(-np.log(p[answer]) + 50 * L_R, rel=1e-9)


def test_both_kinds_of_answers_were_tried():
    reader, _ = build()
    p = transcribed(reader, QUESTIONS[0])[0]
    assert 0 < sum(answer in handed_on(p, 3) for answer in (0, 1, 2, 4, 5)) < 5


def test_without_the_reasoner_the_loss_is_the_extractors():
    alone, both = (build(replace(SMALL, reasoner_weight=weight)) for weight in (0.0, 50.0))
    batch = tensors(alone[1](QUESTIONS))
    output = alone[0](batch)
    loss = epireader_loss(output, batch)
    assert loss.item() == mass_loss(output, batch).item()
    assert epireader_loss(both[0](batch), batch).item() > loss.item()
    loss.backward()
    assert (alone[0].reasoner.output.weight.grad == 0).all()
    assert (alone[0].document_gru.input_weight.grad != 0).any()


def test_candidates_beyond_the_k_best_never_win():
    reader, collator = build(replace(SMALL, extracted=2))
    output = reader(tensors(collator(QUESTIONS[:1])))
    kept = output.log_mass[0].topk(2).indices.tolist()
    got = output.log_probabilities[0]
    beyond = [k for k in range(len(got)) if k not in kept and got[k] > -torch.inf]
    assert len(beyond) == 3
    assert got[beyond].max() < np.log(2e-6)
    assert got[kept].exp().sum().item() == pytest.approx(1, abs=1e-5)


def test_candidates_as_probable_as_the_last_of_the_k_count_with_it():
    """The same name in two orders has one probability, and here it is the second best."""
    log_mass = torch.tensor([[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]]).log()
    assert ranks(log_mass).tolist() == [[0, 1, 1, 3, 3, 3]]
    reader, collator = build(replace(SMALL, extracted=2))
    batch = tensors(
        collator([replace(QUESTIONS[0], candidates=(("Tom", "Thumb"), ("did", "ran"), ("ran", "did"), ("met",)))])
    )
    output = reader(batch)
    p = output.log_mass[0].exp()
    assert p[0] > p[1] > p[3]
    assert (output.log_probabilities[0] > np.log(1e-6)).tolist() == [True, True, True, False]


def test_dropout_falls_on_every_word_once():
    """With all words of a batch dropped, none has a say, neither in the Extractor nor in the Reasoner."""
    reader, collator = build(replace(SMALL, dropout=0.9999))
    batch, shapes = tensors(collator(QUESTIONS)), []
    reader.dropout.register_forward_hook(lambda layer, values, result: shapes.append(values[0].shape))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        epireader_loss(reader.train()(batch), batch).backward()
    assert shapes == [(len(batch.types.characters), E)]
    assert (reader.embed.words.grad == 0).all()


def test_first_weights():
    """Of the filters over sentences both parts have the bound of the whole."""
    generator = torch.Generator().manual_seed(0)
    words, F, N = torch.randn(500, 20, generator=generator), 32, 24
    reader = EpiReader(EpiReaderConfig(filters=F, sentence_states=N), Basis(words, 0, generator=generator))
    assert reader.embed.words.std().item() == pytest.approx(0.05 / 3**0.5, rel=0.02)  # that of uniform ±0.05
    fans = {
        "sentence_filters": 3 * (20 + 2) + F,
        "candidate_filters": 3 * (20 + 2) + F,
        "hypothesis_filters": 3 * 20 + F,
        "similarity": F + F,
        "output": N + 1,
    }
    for name, fan in fans.items():
        bound, layer = (6 / fan) ** 0.5, getattr(reader.reasoner, name)
        assert 0.9 * bound < layer.weight.abs().max() <= bound, name
        assert layer.bias is None or (layer.bias == 0).all()
    for weight in (reader.document_gru.recurrent_weight[1], reader.reasoner.sentence_gru.recurrent_weight):
        matrix = weight[:, : len(weight)]
        torch.testing.assert_close(matrix @ matrix.T, torch.eye(len(matrix)), rtol=0, atol=1e-5)


def test_gradients_of_the_whole_reader():
    reader, collator = build(replace(SMALL, hidden=2, filters=2, sentence_states=2, reasoner_weight=2.0))
    batch = tensors(collator(QUESTIONS))
    assert gradients_are_right(reader, batch, epireader_loss)


def test_loss_needs_what_both_parts_gave():
    with pytest.raises(TypeError, match="no log_mass and entailment"):
        epireader_loss(ReaderOutput(torch.zeros(1, 2)), build()[1](QUESTIONS[1:]))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"extracted": 1}, "extracted = 1 is too small; use 2 or more"),
        ({"filters": 0}, "filters = 0 is too small"),
        ({"sentence_states": 0}, "sentence_states = 0 is too small"),
        ({"margin": -0.1}, "margin = -0.1 is too small; use 0 or more"),
        ({"reasoner_weight": -1.0}, "reasoner_weight = -1.0 is too small; use 0 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"word_scale": 0.0}, "word_scale = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        EpiReaderConfig(**setting)
    assert message in str(error.value)
