"""Raw text to sentences as the Children's Book Test has them; `test_text.py` has text that is no book."""

import lzma
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.treebank import book_sentences


def lines(text: str) -> list[str]:
    return [" ".join(sentence) for sentence in book_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n\u00a0", []),
        ("A DOG\n\nIt barked. Then\nit slept", ["A DOG It barked .", "Then it slept"]),
        ('"Go!" he said.  "I won\'t."', ["`` Go ! ''", "he said .", "`` I wo n't . ''"]),
        (
            "It left (alas!). [The end.] {Yes.}",
            ["It left -LRB- alas ! -RRB-", ".", "-LSB- The end . -RSB-", "-LCB- Yes . -RCB-"],
        ),
        ("Who?! He!! Now...", ["Who ?!", "He !!", "Now ..."]),
        ("Oh.... He. . . . So it goes . . . on", ["Oh ... .", "He ... .", "So it goes ... on"]),
        ("One--two---three----four -- tree-\ntops-", ["One -- two -- three -- four -- tree - tops -"]),
        ("wait—no – go … “now”", ["wait -- no -- go ... `` now ''"]),
        ("half-past, and/or 1/2 of R&B, &c., 2½", ["half-past , and/or 1/2 of R&B , & c. , 2 1/2"]),
        ("* * * * *\n\n**A #7 = 5%", ["* * * * * ** A # 7 = 5 %"]),
        ("$3,000.50 or £5 at 8:30 or 9.15. The 20th, -5.", ["$ 3,000.50 or # 5 at 8:30 or 9.15 .", "The 20th , -5 ."]),
        ("the _very_ man; _He_'s 'a _good_ one.' snake_case", ["the very man ; He 's ' a good one . '", "snake_case"]),
        ("cafe\u0301\u00a0noir", ["caf\u00e9 noir"]),
        ("a\u00adb\ufeffc \x00 \x7f", ["abc"]),
    ],
)
def test_tokens_and_sentences(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A mark opens before a letter and one more character that is no space; 'I and 'A have no such character.
        ("He sat. 'I know,' she said.", ["He sat . '", "I know , ' she said ."]),
        ("He sat. 'A man!' she said.", ["He sat . '", "A man ! '", "she said ."]),
        ("He sat. 'I'll go.' 'I--' 'O, no!'", ["He sat .", "` I 'll go . '", "` I -- ' ` O , no ! '"]),
        ("He sat. 'Ah, I know,' she said.", ["He sat .", "` Ah , I know , ' she said ."]),
        ("he said; 'I think so'", ["he said ; ' I think so '"]),
        ("He sat. 'Emily!'", ["He sat .", "'Em ily ! '"]),
        # A double mark opens before a letter, a digit or a dollar alone.
        (
            'He said. "\'Tis he," "--and" "(no)" "12"',
            ["He said . ''", "'T is he , '' '' -- and '' '' -LRB- no -RRB- '' `` 12 ''"],
        ),
        ("the boys' hats, the boy's, o' mine, ''yes''", ["the boys ' hats , the boy 's , o ' mine , `` yes ''"]),
    ],
)
def test_the_direction_of_quotation_marks(text: str, expected: list[str]) -> None:
    assert lines(text) == expected
    curly = text.replace(' "', " “").replace('"', "”").replace(" '", " ‘").replace("'", "’")
    assert lines(curly) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, DON'T and didn't; she'll, I'm, he'd", "I ca n't , DO N'T and did n't ; she 'll , I 'm , he 'd"),
        ("YOU'RE WE'LL I'D THEY'VE", "YOU 'RE WE 'LL I 'D THEY 'VE"),
        ("I cannot, gonna, gotta, lemme, wanna dunno", "I can not , gon na , got ta , lem me , wan na du n no"),
        ("'tis 'Twas 'tisn't 'em 'cause 'till rock 'n' roll", "'t is 'T was 't is n't 'em 'cause 'till rock 'n' roll"),
        ("o'clock d'Artagnan O'Brien's ma'am ne'er-do-well", "o'clock d'Artagnan O'Brien 's ma'am ne'er - do-well"),
        ("sha'n't 'way p'raps elephant's-ears ol' Cap'n", "sha 'n' t ` way p ` raps elephant 's - ears ol' Cap'n"),
        ("y'all d' will-o'-the-wisp meaner'n Sam in '49 or", "y' all d' will-o ' - the-wisp meaner 'n Sam in '49 or"),
    ],
)
def test_apostrophes(text: str, expected: str) -> None:
    assert lines(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. and Mrs. Fox, Dr. Owl, E. B. Hare, St. Ives.", ["Mr. and Mrs. Fox , Dr. Owl , E. B. Hare , St. Ives ."]),
        ("So do I.' 'And", ["So do I. ' ` And"]),
        ("So do I. But no.", ["So do I .", "But no ."]),
        ("CHAPTER V. THE DOG. CHAPTER X. A", ["CHAPTER V .", "THE DOG .", "CHAPTER X. A"]),
        (
            "in the U.S. The end of the U.S. army at 5 a.m. sharp",
            ["in the U.S. .", "The end of the U.S. army at 5 a.m. sharp"],
        ),
        ("dogs, etc. and cats, etc. Then, etc.", ["dogs , etc. and cats , etc. .", "Then , etc. ."]),
        ("in co.\nwith Fox & Co., Esq., Miss. You", ["in co. .", "with Fox & Co. , Esq. , Miss. .", "You"]),
        ("Ans.: No. 5, no. Dec. 20th. ill. Mr.", ["Ans. : No. 5 , no .", "Dec. 20th .", "ill .", "Mr."]),
    ],
)
def test_abbreviations(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@given(st.text(alphabet="aIn't .,!?\"`-_()1\n—’é", max_size=60))
def test_no_letter_is_lost_and_none_is_made(text: str) -> None:
    tokens = [token for sentence in book_sentences(text) for token in sentence]
    assert all(tokens)
    assert not any(token.split() != [token] for token in tokens)
    written = Counter(character for token in tokens if token[0] + token[-1] != "--" for character in token)
    assert all(written[letter] == text.count(letter) for letter in "aIné1t")


BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}
JOINED_LEFT = {*",.!?;:", "!!", "''", "-RRB-", "-RSB-", "n't", "'s", "'ll", "'m", "'d", "'ve", "'re", "'n", "'n'", "-"}
JOINED_RIGHT = {"``", "`", "-LRB-", "-LSB-", "'t", "-"}
SPLIT = {("can", "not"), ("gon", "na"), ("'n'", "t"), ("'", "t")}


def raw(book: list[tuple[str, ...]], dash: str) -> str:
    """The book as a file would have it: marks joined to words, curly quotation marks, lines of 70 characters."""
    tokens = [token for sentence in book for token in sentence]
    pieces: list[str] = []
    speech = False  # within single quotation marks
    for before, token, after in zip(("", *tokens), tokens, (*tokens[1:], ""), strict=False):
        piece, left, right = BRACKETS.get(token, token), token.lower() in JOINED_LEFT, token.lower() in JOINED_RIGHT
        left |= (before.lower(), token) in SPLIT
        if token == "``":
            piece = "“"
        elif token == "''":
            piece = "”"
            if after in ("'cause", "-LRB-") or (after == "'T" and before != "."):  # in truth an opening mark
                piece, left, right = "“", False, True
        elif token == "`":
            piece, speech = "‘", True
        elif token == "'":
            opens = not speech and not before.isalpha() and len(after) == 1 and after.isalpha()
            piece, left, right = ("‘", False, True) if opens else ("’", True, False)
            speech = opens or (speech and before.isalpha())
        elif token == "--":
            piece = dash
            left = right = " " not in dash
        elif token == "." and before.endswith("."):  # one period was read twice
            piece = "\n"
        if pieces and not (left or pieces[-1].endswith("\0")):
            pieces.append(" ")
        pieces.append(piece + "\0" * right)
        if token == "-":
            pieces[-1] = "-\n\0"
    return wrapped("".join(pieces).replace("\0", ""))


def wrapped(text: str) -> str:
    """Lines of at most 70 characters, where nothing but a space is cut."""
    out: list[str] = []
    for line in text.split("\n"):
        length = 0
        for word in line.split(" "):
            out.append("\n" if length and length + len(word) > 70 else " " * bool(length))
            length = len(word) if out[-1] == "\n" else length + len(word) + 1
            out.append(word)
        out.append("\n")
    return "".join(out)


PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})


@pytest.mark.parametrize("signs", ["plain", "curly"])
def test_the_official_books_come_back(shared_data: Path, signs: str) -> None:
    books: dict[str, list[tuple[str, ...]]] = {}
    with lzma.open(shared_data / "cbt" / "cbt_valid.txt.xz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith("_BOOK_TITLE_"):
                books[line] = []
            else:
                books[next(reversed(books))].append(tuple(line.split()))
    assert len(books) == 5
    for title, book in books.items():
        text = raw(book, " — " if "Golden" in title else "—")
        text = text.replace("—", "--").translate(PLAIN) if signs == "plain" else text.replace("'", "’")
        same = Counter(book) & Counter(book_sentences(text))
        assert same.total() / len(book) > 0.995, title
