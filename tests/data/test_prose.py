"""The Treebank's words as text that people write."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.batching import BEGIN, END
from gareader.data.corpora import read
from gareader.data.examples import PLACEHOLDER
from gareader.data.prose import detokenise, pieces
from gareader.data.text import tokenise
from places import PROJECT


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ""),
        ("`` Do n't ! '' said Mr. Fox .", "“Don’t!” said Mr. Fox."),
        (f"{BEGIN} {PLACEHOLDER} 's lamp , {END}", "⊢ ___’s lamp, ⊣"),
        ("It left -LRB- alas ! -RRB- -LSB- so -RSB- -lcb- yes -rcb- .", "It left (alas!) [so] {yes}."),
        ("wait -- no ... 5 % of $ 3 , C$ 4 or # 7", "wait – no… 5% of $3, C$4 or #7"),
        ("in the U.S. . Oh ... .", "in the U.S. Oh…."),
        ("I ca n't and can not ; I 'm gon na , du n no", "I can’t and cannot; I’m gonna, dunno"),
        ("'T is o'clock , rock 'n' roll , y' all and 'em", "’Tis o’clock, rock ’n’ roll, y’all and ’em"),
        ("` The boys ' hats , ' she said , ' I think '", "‘The boys’ hats,’ she said, ‘I think’"),
        ("He sat . ' I know , ' she said .", "He sat. ‘I know,’ she said."),
        ("`` He said ` Yes . ' '' '' 'T is he , ''", "“He said ‘Yes.’” “’Tis he,”"),
        ('" Hi , " he said , " you . "', "“Hi,” he said, “you.”"),
        ("away , '' he said", "away,” he said"),
    ],
)
def test_text_as_people_write_it(words, expected):
    assert detokenise(words.split()) == expected


WORDS = st.lists(
    st.sampled_from(
        "`` '' ` ' -LRB- -RRB- -- ... . , ! ? 's n't 'll $ % # @placeholder Tom I can not U.S. o'clock".split()
    )
    | st.text(alphabet="aé'.-5@<&", min_size=1, max_size=4)
)


@given(WORDS)
def test_each_word_has_one_piece_and_no_letter_is_lost(words):
    split = list(pieces(words))
    assert len(split) == len(words)
    assert {space for space, _ in split} <= {"", " "}
    text = detokenise(words)
    assert text == "".join(space + piece for space, piece in split)
    assert text == text.strip()
    assert "  " not in text
    assert not {"``", "''", "-LRB-", "-RRB-", PLACEHOLDER} & {piece for _, piece in split}
    plain = "".join(word for word in words if word not in ("-LRB-", "-RRB-", PLACEHOLDER))
    assert Counter(filter(str.isalnum, text)) == Counter(filter(str.isalnum, plain))


SENTENCES = st.lists(
    st.sampled_from(
        ["Tom", "didn't", "see", "Mary's", "lamp,", "(alas!)", "and", "said:", "5%", "$3", "cannot", "we'll"]
    ),
    min_size=1,
).map(lambda parts: " ".join(parts).replace("'", "’") + ".")


@given(SENTENCES, st.booleans())
def test_text_comes_back_as_it_was(text, quoted):
    text = f"“{text}”" if quoted else text
    assert detokenise(tokenise(text)) == text


def test_text_of_books_comes_back_as_the_same_words():
    for question in read(PROJECT / "tests" / "samples" / "cbt" / "cbtest_NE_valid_40ex.txt"):
        words = tokenise(detokenise(question.document))
        # the corpus has a closing mark before 'I
        pairs = [(one, two) for one, two in zip(words, question.document, strict=True) if one != two]
        assert {*pairs} <= {("`", "'")}, question.id
