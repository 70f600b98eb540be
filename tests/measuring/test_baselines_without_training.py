"""Baselines without training: by hand, and on the official questions."""

from math import inf, log

import pytest

from gareader.data.corpora import read
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.statistics import describe
from gareader.measuring.baselines import BASELINES, choice, overlap, word_distance


def question(document, query, candidates):
    return Example(
        "1", tuple(document.split()), tuple(query.split()), tuple(tuple(c.split()) for c in candidates.split("|")), 0
    )


@pytest.mark.parametrize(
    ("query", "candidates", "plain", "exclusive"),
    [
        (PLACEHOLDER, "Tom|Ann|Mary Ann", [1, 3, 1], [1, 3, 1]),
        (f"Ann {PLACEHOLDER}", "Tom|Ann|Mary Ann", [1, 3, 1], [1, -inf, -inf]),  # Mary Ann shares a word with the query
        (f"Ann Tom {PLACEHOLDER}", "Tom|Ann", [1, 3], [1, 3]),  # all do: nothing is passed over
        (PLACEHOLDER, "Ann Mary|Zoë|Tom", [-inf, -inf, 1], [-inf, -inf, 1]),  # not in a row, not at all
    ],
)
def test_frequencies(query, candidates, plain, exclusive):
    example = question("Tom met Ann . Ann met Mary Ann .", query, candidates)
    assert BASELINES["most-frequent"](example) == plain
    assert BASELINES["most-frequent-not-in-query"](example) == exclusive


@pytest.mark.parametrize(
    ("document", "query", "candidates", "scores"),
    [
        # Ann: "saw" lies on itself, "a" and "cat" five words before theirs. Tom: all lie on themselves.
        ("Ann saw the dog . Tom saw a cat .", f"{PLACEHOLDER} saw a cat", "Ann|Tom|Zoë", [-10, 0, -inf]),
        # "then" lies on itself before Mary Ann, and one word behind itself before Ann alone.
        ("then Mary Ann ran", f"then {PLACEHOLDER} ran", "Mary Ann|Ann", [0, -1]),
        # Ann: two words before the document's beginning; "far" is one away, "so" is nowhere. Best mention: the second.
        ("Ann far Ann", f"far so {PLACEHOLDER}", "Ann|far", [-9, -10]),
    ],
)
def test_word_distance(document, query, candidates, scores):
    assert BASELINES["word-distance"](question(document, query, candidates)) == scores


def test_a_word_costs_no_more_than_the_penalty():
    example = question("Ann saw the dog . Tom saw a cat .", f"{PLACEHOLDER} saw a cat", "Ann|Tom")
    assert word_distance(example, penalty=3) == [-6, 0]
    assert word_distance(example, penalty=5) == BASELINES["word-distance-5"](example) == [-10, 0]
    far = question("Ann . . . . . . . cat", f"{PLACEHOLDER} cat", "Ann|cat")  # lies seven words before its own place
    assert [word_distance(far, m)[0] for m in (5, 6, 7, 8, 9)] == [-5, -6, -7, -7, -7]


@pytest.mark.parametrize(
    ("document", "query", "candidates", "scores"),
    [
        # a twice, b and c once: log(1 + 1/2) and log(1 + 1/1). Windows of two words; the best have a and b, or c alone.
        ("a b a c", f"b {PLACEHOLDER}", "a|c|d", [log(1.5) + log(2), log(2), -inf]),
        # A repeated word counts once in the size of the window: "a a b" has windows of two.
        ("b x a y a", f"a a {PLACEHOLDER}", "b|y", [log(2), log(2) + log(1.5)]),
        # A word of the query and the candidate at once does not make the window longer.
        ("a b c", f"b {PLACEHOLDER}", "a b|c", [2 * log(2), 2 * log(2)]),
    ],
)
def test_sliding_window(document, query, candidates, scores):
    assert BASELINES["sliding-window"](question(document, query, candidates)) == pytest.approx(scores)


@pytest.mark.parametrize(
    ("document", "around", "scores"),
    [
        # Tom stands beside "sold" and "the", which is there twice; Ann beside the other "the". Zoë is not there.
        ("Ann kept the dog , the cat Tom sold", 2, [log(1.5), log(1.5) + log(2), -inf]),
        # One more word on each side changes nothing for Tom: a word counts once.
        ("Ann kept the dog , the cat Tom sold", 4, [log(1.5), log(1.5) + log(2), -inf]),
        # The best mention counts, not all of them together; the words of the mention itself do not.
        ("the Tom x x Tom sold x sold Ann", 1, [log(1.5), log(2), -inf]),
    ],
)
def test_overlap(document, around, scores):
    example = question(document, f"{PLACEHOLDER} sold the Tom", "Ann|Tom|Zoë")
    assert overlap(example, around) == pytest.approx(scores)


def test_the_overlap_looks_at_ten_words_on_each_side():
    gap = " ".join(["x"] * 9)
    for document, found in ((f"sold {gap} Ann {gap} x", 1), (f"sold x {gap} Ann {gap} x", 0), (f"Ann {gap} sold", 1)):
        example = question(document, f"{PLACEHOLDER} sold", "Ann|Tom")
        assert BASELINES["overlap"](example)[0] == pytest.approx(log(2) * found)


def test_of_equals_the_first_mentioned_is_chosen():
    for candidates, expected in (("Tom|Ann|Ben", 1), ("Ann|Ben|Tom", 0), ("Tom|Ben|Ann", 2)):
        assert choice(question("Ann Ben Tom Ben", PLACEHOLDER, candidates), [2.5, 2.5, 2.5]) == expected
    example = question("Ann Ben Tom", PLACEHOLDER, "Tom|Ann|Zoë")
    assert choice(example, [-1.0, -2.0, -inf]) == 0
    assert choice(example, [-inf, -inf, -inf]) is None


def test_official_validation_questions(cbt_questions):
    examples = list(read(cbt_questions.path))

    def share(name, some):
        return 100 * sum(choice(example, BASELINES[name](example)) == example.answer for example in some) / len(some)

    known = describe(examples)
    assert known.most_frequent_accuracy is not None
    assert known.most_frequent_not_in_query_accuracy is not None
    frequent, exclusive = (share(name, examples) for name in ("most-frequent", "most-frequent-not-in-query"))
    assert frequent == pytest.approx(100 * known.most_frequent_accuracy)
    assert exclusive == pytest.approx(100 * known.most_frequent_not_in_query_accuracy)
    if not cbt_questions.whole:
        return
    assert (f"{frequent:.1f}", f"{exclusive:.1f}") == ("32.4", "35.5")
    some = examples[::5]
    assert share("word-distance-5", some) > exclusive  # it knows where the words stand
    assert share("sliding-window", some) > 14  # a guess is right in a tenth
