"""Text of strangers on a terminal: shown, not obeyed."""

import json

import pytest

from gareader.cli.answer import print_ranking
from gareader.cli.app import complain
from gareader.core.errors import CorpusError
from gareader.core.terminal import shortened, shown
from gareader.data.examples import PLACEHOLDER, Example, Prediction

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
ESCAPED = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e"


def test_control_characters_are_shown():
    assert shown(HOSTILE) == ESCAPED
    assert shown("Zoë\t— naïve\n") == "Zoë\t— naïve\n"
    text = json.dumps({"a": HOSTILE}, ensure_ascii=False)
    assert json.loads(shown(text)) == {"a": HOSTILE}


def test_errors_and_rankings_have_no_control_characters(capsys):
    example = Example("a", (HOSTILE, "ran"), (PLACEHOLDER, "ran"), ((HOSTILE,), ("ran",)), None)
    prediction = Prediction(example, (-0.1, -2.4))
    print_ranking(prediction)
    complain(CorpusError(f"the answer {HOSTILE} is not among the candidates", "a.txt", 1))
    out, err = capsys.readouterr()
    for text in (out, err, str(prediction)):
        assert ESCAPED in text
        assert "\x1b" not in text


@pytest.mark.parametrize(("size", "least"), [(100, 100), (4000, 4000), (1_000_000, 4000)])
def test_long_texts_lose_their_middle(size, least):
    text = shortened("a" + "b" * (size - 2) + "c")
    assert least <= len(text) < 4100
    assert (text[0], text[-1]) == ("a", "c")
