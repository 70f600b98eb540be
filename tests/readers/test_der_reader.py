"""The DER Network against a literal transcription of its equations, and what an entity's state does."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

import reference
from gareader.core.errors import ConfigError
from gareader.data.examples import Example, Words
from gareader.nn.tensors import tensors
from gareader.readers import der_reader
from gareader.readers.der_reader import DERReader
from gareader.readers.reader import Basis, answer_loss
from gareader.readers.settings import DERConfig
from readers import questions
from readers.questions import KNOWN, assert_answers, gradients_are_right, vector, wrapped

QUESTIONS = [
    Example(
        "several words, one shared, one missing, a sentence about nobody",
        tuple("Mary Ann met Tom . it was late ! Ann ran to Tom Thumb and Ann ? Mary did not".split()),
        tuple("then @placeholder ran home to Tom and Nobody .".split()),
        (("Mary", "Ann"), ("Ann",), ("Tom", "Thumb"), ("Nobody",)),
        1,
    ),
    Example("short", ("x", "y", ".", ".", "x"), ("@placeholder",), (("x",), ("y",)), 0),
]
SCALE = 0.7
SMALL = DERConfig(hidden=3, dropout=0.0, word_scale=SCALE)


def build(config=SMALL, **collator):
    return questions.build(DERReader, config, 0.6, width=4, **collator)


def transcribed(reader, question):
    """The probability of every candidate, the last state of each entity, and what the document's words get of a."""
    embed = partial(vector, reader, scale=SCALE)

    def linear(layer, x):
        W = layer.weight.detach().numpy()
        return W @ x + (0 if layer.bias is None else layer.bias.detach().numpy())

    entities = [e for e in question.candidates if any(word in e for word in question.document)]
    s = {e: sum(embed(word) for word in e) / len(e) for e in entities}
    d = {e: [s[e]] for e in entities}
    told: dict[Words, list[list[int]]] = {e: [] for e in entities}

    def read(words, layer):  # entity tokens are replaced by their state, seen through a layer
        X = []
        for word in words:
            own = [linear(layer, s[e]) for e in entities if word in e]
            X.append(sum(own) / len(own) if own else embed(word))
        return X

    sentence = []
    for place, word in enumerate(question.document):
        sentence.append(word)
        if word not in (".", "!", "?") and place < len(question.document) - 1:
            continue
        words, sentence = wrapped(sentence), []
        positions = {e: [t for t, w in enumerate(words) if w in e] for e in entities}
        positions = {e: places for e, places in positions.items() if places}
        if not positions:
            continue
        H = reference.bilstm(read(words, reader.mention), reader.sentence_lstm)
        for e, places in positions.items():
            mean = sum(H[t] for t in places) / len(places)
            context = np.tanh(linear(reader.context, np.concatenate([mean, reference.whole_query(H)])))
            d[e].append(context)
            told[e].append([place - len(words) + 2 + t for t in places])  # place: of the sentence's last word
            s[e] = np.maximum(s[e], context)

    words = wrapped(question.query)
    H = reference.bilstm(read(words, reader.asked_mention), reader.query_lstm)
    h_q = np.concatenate([H[words.index("@placeholder")], reference.whole_query(H)])
    u, q = linear(reader.asked, h_q), linear(reader.cue, h_q)
    score, looks = {}, {}
    for e in entities:
        S = [(linear(reader.weight, np.tanh(linear(reader.memory, d_j) + q)))[0] for d_j in d[e]]
        a = looks[e] = reference.softmax(np.array(S))
        v = linear(reader.answer, sum(a_j * d_j for a_j, d_j in zip(a, d[e], strict=True)))
        if any(word in e for word in question.query):
            v = v + reader.in_query.detach().numpy()
        score[e] = u @ v
    p = dict(zip(entities, reference.softmax(np.array([score[e] for e in entities])), strict=True))
    seen = np.zeros(len(question.document))
    for e in entities:
        for a_j, places in zip(looks[e][1:], told[e], strict=True):
            for place in places:
                seen[place] += p[e] * a_j / len(places)
    return [p.get(e, 0.0) for e in question.candidates], s, seen


def states(reader, batch):
    vectors = reader.embed(batch.types)
    return reader.read(batch, vectors, vectors)[0]


def test_equals_the_paper():
    reader, collator = build()
    batch = tensors(collator(QUESTIONS))
    output, last = reader(batch, attention=True), states(reader, batch)
    for b, question in enumerate(QUESTIONS):
        probabilities, s, seen = transcribed(reader, question)
        assert_answers(output, b, question, probabilities)
        for c, candidate in enumerate(question.candidates):
            if candidate in s:
                np.testing.assert_allclose(last[b, c].detach().numpy(), s[candidate], rtol=1e-9)
        np.testing.assert_allclose(output.document_attention[b, : len(seen)].detach().numpy(), seen, rtol=1e-9)
        assert 0.1 < seen.sum() < 1  # the rest is on first states
        assert (output.document_attention[b, len(seen) :] == 0).all()
    assert output.hop_attention == ()
    assert reader(batch).document_attention is None


def test_a_state_never_decreases_along_the_document():
    """The documents are read as far as each word that ends a sentence, and then to the end."""
    reader, collator = build()
    question = QUESTIONS[0]
    ends = [i + 1 for i, word in enumerate(question.document) if word in (".", "!", "?")] + [len(question.document)]
    batch = tensors(collator([replace(question, document=question.document[:end]) for end in ends]))
    read = states(reader, batch)  # (4, C, E)
    first = reader.embed(batch.types)[batch.candidates[0, 1, 0]]  # Ann's
    assert (read[0, 1] >= first).all()
    assert (read[1:] >= read[:-1]).all()
    grown = (read[1:] > read[:-1]).any(dim=-1)  # (3, C)
    assert not grown[0].any()  # nothing was said of anybody
    assert grown[1].any()
    assert not grown[2, 1:].any()  # nothing was said of anybody but Mary


def test_what_is_said_of_nobody_is_not_read():
    reader, collator = build()
    document = QUESTIONS[0].document
    without = replace(QUESTIONS[0], document=tuple(w for w in document if w not in ("it", "was", "late", "!")))
    full, short = (reader(tensors(collator([question]))).log_probabilities for question in (QUESTIONS[0], without))
    torch.testing.assert_close(full, short, rtol=1e-12, atol=0)


def test_states_begin_at_marks_where_candidates_hide():
    reader, collator = build(anonymity="permuted", marks=6)
    one, other = (reader(tensors(collator(QUESTIONS, draw=draw))).log_probabilities for draw in (1, 2))
    assert one.isneginf().equal(other.isneginf())
    assert not torch.equal(one, other)


def test_dropout_falls_on_words_and_leaves_the_first_states():
    """With all words dropped, only those that an entity begins with have a say."""
    reader, collator = build(replace(SMALL, dropout=0.9999))
    batch = tensors(collator(QUESTIONS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        answer_loss(reader.train()(batch), batch).backward()
    heard = reader.embed.words.grad.any(dim=1)
    assert [word for word, h in zip(KNOWN, heard, strict=True) if h] == ["Mary", "Ann", "Tom"]


def test_document_and_query_mention_the_same_where_candidates_hide(monkeypatch):
    """By name Ann is two candidates, behind marks one: in both texts the same."""
    reader, collator = build(anonymity="permuted", marks=6)
    text = tuple("Mary Ann met Tom and Ann".split())
    batch = tensors(collator([Example("1", text, (*text, "@placeholder"), (("Mary", "Ann"), ("Ann",), ("Tom",)), 0)]))
    mentioned, with_entities = [], der_reader.with_entities

    def watched(tokens, entities, mentions):
        mentioned.append(mentions)
        return with_entities(tokens, entities, mentions)

    monkeypatch.setattr(der_reader, "with_entities", watched)
    reader(batch)
    document, query = (mentions[..., : 1 + len(text)] for mentions in mentioned)
    assert document.equal(query)
    assert batch.occurrence.any(dim=2).all()
    assert document.sum(dim=1).tolist() == [[0, 1, 1, 0, 1, 0, 1]]


def test_first_weights():
    generator = torch.Generator().manual_seed(0)
    reader = DERReader(DERConfig(hidden=100), Basis(torch.randn(500, 20, generator=generator), 0, generator=generator))
    assert reader.embed.words.std().item() == pytest.approx(0.05 / 3**0.5, rel=0.02)  # that of uniform ±0.05
    for layer in (reader.sentence_lstm, reader.query_lstm):
        for name, weight in layer.lstm.named_parameters():
            expected = 0 if "bias" in name else (2 / (4 * 100 + 20)) ** 0.5
            assert weight.std().item() == pytest.approx(expected, rel=0.05), name
    assert reader.in_query.std().item() == pytest.approx((2 / 101) ** 0.5, rel=0.2)
    for linear, fans in ((reader.context, 400 + 20), (reader.mention, 20 + 20), (reader.answer, 20 + 100)):
        bound = (6 / fans) ** 0.5
        assert 0.98 * bound < linear.weight.abs().max() <= bound
        assert linear.bias is None or (linear.bias == 0).all()


def test_gradients_of_the_whole_reader():
    reader, collator = build(replace(SMALL, hidden=2))
    batch = tensors(collator(QUESTIONS))
    assert gradients_are_right(reader, batch, answer_loss)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"hidden": 0}, "hidden = 0 is too small; use 1 or more"),
        ({"dropout": 1.0}, "dropout = 1.0 is too large; use 0 or more and less than 1"),
        ({"word_scale": 0.0}, "word_scale = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(setting, message):
    with pytest.raises(ConfigError) as error:
        DERConfig(**setting)
    assert message in str(error.value)
