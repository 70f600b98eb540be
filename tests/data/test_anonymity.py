"""Candidates behind marks."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.anonymity import anonymised
from gareader.data.batching import Collator
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.readers.reader import ReaderOutput
from gareader.trained.model import OnTorch
from gareader.trained.predictor import Predictor

STORY = Example(
    "story",
    tuple("Mary Ann met Tom and Mary met the cat . Beth saw Tom".split()),
    (*"then Mary Ann saw".split(), PLACEHOLDER),
    (("Tom",), ("Beth",), ("Mary", "Ann"), ("Zoë",)),
    0,
)


def test_ordered_by_first_occurrence():
    hidden = anonymised(STORY, "ordered")
    assert " ".join(hidden.document) == (
        "@entity0 @entity0 met @entity1 and @entity0 met the cat . @entity2 saw @entity1"
    )
    assert " ".join(hidden.query) == "then @entity0 @entity0 saw @placeholder"
    assert hidden.candidates == (("@entity1",), ("@entity2",), ("@entity0",), ("@entity3",))
    assert (hidden.id, hidden.answer) == ("story", 0)


def test_a_whole_name_wins_over_its_words():
    example = Example("x", tuple("Tom saw Tom Ann".split()), (PLACEHOLDER,), (("Tom",), ("Tom", "Ann")), 1)
    hidden = anonymised(example, "ordered")
    assert " ".join(hidden.document) == "@entity0 saw @entity1 @entity1"
    assert hidden.candidates == (("@entity0",), ("@entity1",))
    last = Example("x", tuple("Ann saw Tom Ann".split()), (PLACEHOLDER,), (("Ann",), ("Tom", "Ann")), 1)
    assert " ".join(anonymised(last, "ordered").document) == "@entity0 saw @entity1 @entity1"


def test_a_word_that_is_no_whole_name_goes_to_the_first_that_has_it():
    text = tuple("Mary met Beth Ann and Mary Ann".split())
    example = Example("x", text, ("Ann", PLACEHOLDER), (("Mary", "Ann"), ("Beth", "Ann")), 1)
    hidden = anonymised(example, "ordered")
    assert " ".join(hidden.document) == "@entity0 met @entity1 @entity1 and @entity0 @entity0"
    assert hidden.query == ("@entity0", PLACEHOLDER)


def test_marks_that_a_text_has_of_its_own_are_not_given_away():
    text = tuple("@entity0 saw @entity2 and Ann".split())
    example = Example("x", text, ("@entity3", PLACEHOLDER), (("@entity2",), ("Ann",)), 1)
    hidden = anonymised(example, "ordered", marks=2)
    assert " ".join(hidden.document) == "@entity0 saw @entity1 and @entity2"
    assert hidden.query == ("@entity3", PLACEHOLDER)
    assert hidden.candidates == (("@entity1",), ("@entity2",))


def test_permuted_marks_depend_on_seed_id_and_draw_alone():
    def marks(**change):
        settings = {"marks": 50, "seed": 1, "draw": 0, **change}
        return anonymised(STORY, "permuted", **settings).candidates

    assert marks() == marks()
    assert len({marks(), marks(seed=2), marks(draw=1)}) == 3
    assert len({word for (word,) in marks()}) == 4


def test_more_candidates_than_marks():
    hidden = anonymised(STORY, "permuted", marks=2, seed=1)
    assert len({word for (word,) in hidden.candidates}) == 4


def test_none_changes_nothing():
    assert anonymised(STORY, "none") is STORY


words = st.sampled_from("a b c d e".split())


@given(
    st.lists(words, min_size=1, max_size=12),
    st.lists(words, max_size=4),
    st.lists(st.lists(words, min_size=1, max_size=3), min_size=2, max_size=5),
    st.sampled_from(["permuted", "ordered"]),
    st.randoms(),
)
def test_nothing_moves_and_the_order_of_candidates_does_not_matter(document, query, candidates, way, random):
    example = Example("e", tuple(document), (*query, PLACEHOLDER), tuple(map(tuple, candidates)), 0)
    hidden = anonymised(example, way, marks=7)
    named = {word for candidate in candidates for word in candidate}
    for before, after in zip(document, hidden.document, strict=True):
        assert after.startswith("@entity") if before in named else after == before
    assert hidden.query[len(query)] == PLACEHOLDER
    order = list(range(len(candidates)))
    random.shuffle(order)
    shuffled = anonymised(replace(example, candidates=tuple(example.candidates[i] for i in order)), way, marks=7)
    assert shuffled.document == hidden.document
    assert shuffled.candidates == tuple(hidden.candidates[i] for i in order)


@pytest.mark.parametrize("anonymity", ["permuted", "ordered"])
def test_a_batch_points_where_the_words_are(anonymity):
    alphabet = Alphabet.of(["abc"])
    plain = Collator(Vocabulary(()), alphabet, width=3, seed=1)([STORY])
    hidden = Collator(Vocabulary(()), alphabet, width=3, seed=1, anonymity=anonymity, marks=9)([STORY])
    assert np.array_equal(plain.occurrence, hidden.occurrence)
    tom = STORY.document.index("Tom")
    assert hidden.document[0, tom] == hidden.candidates[0, 0, 0] == hidden.document[0, -1]
    assert hidden.candidates_mask.sum() == 4
    assert plain.candidates_mask.sum() == 5


def test_answers_are_averaged_over_permutations():
    class Marked(torch.nn.Module):
        """Answers by the number of the mark, so that every permutation has another answer."""

        def forward(self, batch, *, attention=False):  # noqa: ARG002
            types = [each for row in batch.candidates[:, :, 0] for each in row]
            scores = torch.stack([batch.types.unknown[i].sum() for i in types]).view(batch.candidates.shape[:2])
            return ReaderOutput(scores.log_softmax(-1))

    collator = Collator(Vocabulary(()), Alphabet.of(["abc"]), width=3, seed=1, anonymity="permuted", marks=9)
    reader = Predictor(OnTorch(Marked()), collator)
    single = [reader.predict([STORY])[0]]
    single += [Predictor(OnTorch(Marked()), DrawnCollator(collator, draw)).predict([STORY])[0] for draw in (-1, -2)]
    assert len({prediction.log_probabilities for prediction in single}) == 3
    (together,) = reader.permuted(3).predict([STORY])
    rows = torch.tensor([prediction.log_probabilities for prediction in single], dtype=torch.float64).exp()
    assert torch.tensor(together.log_probabilities).exp().tolist() == pytest.approx(rows.mean(0).tolist(), rel=1e-5)


class DrawnCollator(Collator):
    """A collator that always draws the same permutation."""

    def __init__(self, collator, draw):
        self.collator, self.draw, self.anonymity = collator, draw, "none"

    def __call__(self, examples, draw=0, *, fresh=0.0):  # noqa: ARG002
        return self.collator(examples, self.draw)
