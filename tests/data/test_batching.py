"""From Examples to arrays, and which examples share a batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.arrays import ReaderOutput
from gareader.data.batching import BEGIN, END, Collator, length_batches, pad, quotations
from gareader.data.corpora import read
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.store import prepare
from gareader.data.vectors import random_vector
from gareader.data.vocabulary import Alphabet, Vocabulary

VOCABULARY = Vocabulary(["Tom", "ran", "Ann"])
COLLATE = Collator(VOCABULARY, Alphabet.of(["Tom", "ran", "Ann", "Zoë"]), width=3, seed=9)
FIRST = Example(
    "1", ("Zoë", "ran", "Tom", "ran"), ("then", PLACEHOLDER, "ran"), (("Tom",), ("Zoë", "Tom"), ("Ann",)), 1
)
SECOND = Example("2", ("Ann", "ran"), (PLACEHOLDER,), (("Ann",), ("ran",)), None)


def padding_share(lengths, batches):
    """The share of document positions in these batches that are padding."""
    return 1 - lengths.sum(dtype=np.int64) / sum(len(batch) * lengths[batch].max() for batch in batches)


def spelled(batch, rows, mask):
    """The words of a batch again, from the vocabulary and the vectors of the unknown."""
    names = {tuple(random_vector(w, 3, 9)): w for w in ("Zoë", "then", BEGIN, END, PLACEHOLDER)}
    types = [tuple(VOCABULARY)[i] for i in batch.types.known] + [names[tuple(v)] for v in batch.types.unknown]
    return [[types[i] for i, real in zip(row, kept, strict=True) if real] for row, kept in zip(rows, mask, strict=True)]


def test_a_batch_holds_the_examples():
    batch = COLLATE([FIRST, SECOND])
    assert spelled(batch, batch.document, batch.document_mask) == [list(FIRST.document), list(SECOND.document)]
    expected = [[BEGIN, "then", PLACEHOLDER, "ran", END], [BEGIN, PLACEHOLDER, END]]
    assert spelled(batch, batch.query, batch.query_mask) == expected
    assert batch.placeholder.tolist() == [2, 1]
    assert batch.answer.tolist() == [1, -1]
    assert batch.occurrence.astype(int).tolist() == [
        [[0, 0, 1, 0], [1, 0, 1, 0], [0, 0, 0, 0]],
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
    ]


def test_function_words_of_a_longer_candidate_are_no_occurrences():
    document = ("the", "Bank", "of", "England", "and", "of", "France")
    names = (("Bank", "of", "England"), ("of",), ("of", "the"), ("England", "and", "France"), ("The", "Bank"))
    batch = COLLATE([Example("1", document, (PLACEHOLDER,), names, 0)])
    assert batch.occurrence.astype(int).tolist() == [
        [
            [0, 1, 0, 1, 0, 0, 0],
            [0, 0, 1, 0, 0, 1, 0],
            [1, 0, 1, 0, 0, 1, 0],
            [0, 0, 0, 1, 0, 0, 1],
            [0, 1, 0, 0, 0, 0, 0],
        ]
    ]
    assert batch.words_present.tolist() == [[2, 1, 2, 2, 1]]


def test_each_distinct_word_is_there_once_the_known_first():
    types = COLLATE([FIRST, SECOND]).types
    assert sorted(types.known.tolist()) == [0, 1, 2]
    assert types.unknown.shape == (5, 3)
    assert len(types.characters) == len(types.character_mask) == 8
    assert types.character_mask.sum(1).max() == 10  # of @placeholder's twelve


def test_a_new_word_is_looked_up_in_lower_case_among_the_pretrained():
    collate = Collator(Vocabulary(["dog", "tom"]), COLLATE.alphabet, width=3, seed=9, pretrained=1)
    rank, types = collate.types(["Dog", "dog", "Tom", "tom"])
    assert rank.tolist() == [0, 1, 3, 2]
    assert types.known.tolist() == [0, 0, 1]  # Dog shares the vector of dog; tom is nobody's but its own
    np.testing.assert_array_equal(types.unknown, [random_vector("Tom", 3, 9)])


def test_padding_is_no_occurrence_even_of_the_word_it_is_written_with():
    batch = COLLATE([Example("long", ("a", "b", "b"), (PLACEHOLDER,), (("a",), ("b",)), 0), SECOND])
    assert not (batch.occurrence & ~batch.document_mask[:, None]).any()


def test_all_words_known_or_none():
    known = Example("k", ("Tom", "Ann"), (PLACEHOLDER,), (("Tom",), ("Ann",)), 0)
    everything = Vocabulary(["Tom", "Ann", BEGIN, END, PLACEHOLDER])
    assert Collator(everything, COLLATE.alphabet, width=3, seed=9)([known]).types.unknown.shape == (0, 3)
    nothing = Collator(Vocabulary([]), COLLATE.alphabet, width=3, seed=9)([known]).types
    assert nothing.known.shape == (0,)
    assert nothing.known.dtype == np.int64


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=6))
def test_pad_keeps_every_row(rows):
    values, mask = pad(rows)
    assert [row[kept].tolist() for row, kept in zip(values, mask, strict=True)] == rows
    assert (values[~mask] == 0).all()


lengths = st.lists(st.integers(1, 50), max_size=200).map(lambda values: np.array(values, dtype=np.int32))


@given(lengths, st.integers(1, 9), st.integers(0, 5), st.integers(1, 5))
def test_every_example_exactly_once(lengths, size, seed, pool):
    batches = length_batches(lengths, size, seed=seed, pool=pool)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert all(len(batch) <= size for batch in batches)
    assert len(batches) == -(-len(lengths) // size)


def test_the_seed_and_nothing_else_decides_the_order():
    lengths = np.arange(1, 1001, dtype=np.int32)
    first, again, other = ([b.tolist() for b in length_batches(lengths, 8, seed=s)] for s in ([1, 0], [1, 0], [1, 1]))
    assert first == again
    assert first != other
    assert {frozenset(b) for b in first} != {frozenset(b) for b in other}


def test_padding_of_the_childrens_book_test_is_below_five_percent(cbt_questions, tmp_path):
    corpus = prepare(read(cbt_questions.path), tmp_path / "ne.arrow")
    batches = length_batches(corpus.document_lengths, 32, seed=0)
    if cbt_questions.whole:  # of forty, few have the same length
        assert padding_share(corpus.document_lengths, batches) < 0.05
    batch = COLLATE([corpus[int(i)] for i in batches[0]])
    counted = 1 - batch.document_mask.mean()
    own = padding_share(corpus.document_lengths[batches[0]], [np.arange(len(batches[0]))])
    assert counted == pytest.approx(own, abs=1e-6)


def test_fresh_names_are_new_words_with_their_own_spelling():
    collate = Collator(Vocabulary(["Tom", "ran"]), Alphabet.of(["Tomran"]), width=4, seed=3, unknown_scale=0.5)
    question = Example("q", ("Tom", "ran", "home"), ("@placeholder", "ran", "Tom"), (("Tom",), ("home",)), 0)
    plain, fresh, later = (
        collate([question]),
        collate([question], 1, fresh=1.0),
        collate([question], 2, fresh=1.0),
    )
    assert len(fresh.types.known) == len(plain.types.known) - 1  # Tom has no row any more, and the others keep theirs
    (place,) = fresh.document[0, :1].tolist()
    assert np.array_equal(fresh.types.characters[place, :3], plain.types.characters[plain.document[0, 0], :3])
    assert fresh.query[0, 3] == place  # the same word wherever the question has it
    assert not np.array_equal(fresh.types.unknown, later.types.unknown)
    assert np.array_equal(collate([question], 1, fresh=0.0).types.known, plain.types.known)


def test_the_vectors_of_unknown_words_have_a_scale():
    question = Example("q", ("x", "y"), ("@placeholder",), (("x",), ("y",)), 0)
    one, half = (
        Collator(Vocabulary([]), Alphabet.of(["xy"]), width=4, seed=3, unknown_scale=scale)([question])
        for scale in (1.0, 0.5)
    )
    assert np.array_equal(one.types.unknown * 0.5, half.types.unknown)


def test_reprs_of_arrays_are_short(tmp_path):
    assert repr(prepare([FIRST, SECOND], tmp_path / "x.arrow")) == "<PreparedCorpus of 2 questions, 6 words>"
    assert repr(COLLATE).startswith("Collator(vocabulary=Vocabulary of 3 words, alphabet=Alphabet of 9 characters, ")
    assert repr(COLLATE([FIRST, SECOND])) == "<Batch document (2, 4), query (2, 5), candidates (2, 3, 2)>"
    scores = np.zeros((2, 3))
    assert repr(ReaderOutput(scores)) == "<ReaderOutput log_probabilities (2, 3), without attention>"
    assert repr(ReaderOutput(scores, (scores,), scores)).endswith("(2, 3), attention of 1 hops>")


@pytest.mark.parametrize(
    ("document", "quoted"),
    [
        ("he said `` yes '' and left", "yes"),
        ("he said `` yes '' and `` no '' .", "yes no"),
        ("go ! '' he said . `` why ?", "go ! why ?"),  # begins and ends inside a quotation
        ("`` one . `` two '' said he", "one . two"),  # a quotation of two paragraphs
        ('he said " yes " and " no " .', "yes no"),
        ('" yes " he said', "yes"),
        ("« oui » et “ yes ”", "oui yes"),
        ("nobody said it 's so", ""),
        ("said '' he '' again", "said"),
    ],
)
def test_words_inside_a_quotation(document, quoted):
    words = tuple(document.split())
    row = quotations([Example("quoted", words, (PLACEHOLDER,), (("a",), ("b",)), 0)], len(words) + 2)[0]
    assert " ".join(word for word, inside in zip(words, row, strict=False) if inside) == quoted
    assert not row[len(words) :].any()
