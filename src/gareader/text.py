"""Text to words: splitting tokenised text, tokenising raw text the Treebank way, and finding the blank of a query."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from unicodedata import normalize

from gareader.examples import PLACEHOLDER

_ABBREVIATIONS = (
    "mr|mrs|ms|messrs|mme|mlle|dr|prof|rev|hon|st|mt|capt|col|gen|lt|maj|sgt|gov|sen|esq|jr|sr|bros|ltd|inc"
    "|etc|vs|viz|cf|feb|apr|aug|sept|oct|nov|dec"
)
"""Words that keep their period, wherever they stand; none of them is also an ordinary word."""

_BLANK = re.compile(r"(?<!\w)(?:XXXXX|_{3,}|@placeholder)(?!\w)")
_BLANK_IN_WORD = re.compile(r"(@placeholder)(?!\w)")

# Unicode noncharacters, reserved for inner use, stand for the signs the tokenizer must not cut at.
_AT, _PERIOD, _APOSTROPHE = "\ufdd0", "\ufdd1", "\ufdd2"
_RESTORE = str.maketrans({_AT: "@", _PERIOD: ".", _APOSTROPHE: "'"})

_PLAIN_SIGNS = str.maketrans(
    {
        **dict.fromkeys("”»‟", "''"),
        **dict.fromkeys("„«", "“"),
        **dict.fromkeys("’‛ʼ", "'"),
        **dict.fromkeys("‘‚", "`"),
        **dict.fromkeys("—―–‒", " -- "),
        "…": " ... ",
    }
)
_TREEBANK_QUOTES = {"“": "``", "”": "''", '"': "''"}

_DOTTED = re.compile(rf"(?i)\b(?:(?:[^\W\d_]\.){{2,}}|(?:{_ABBREVIATIONS})\.)(?!\w)")
_SPLIT_ELISION = re.compile(r"(?i)(?<!\w)['`](t)(is|was|were|will|would)\b")
_ELISION = re.compile(r"(?i)(?<!\w)['`](?=(?:em|cause|bout|round|neath|gainst|nother|un)\b)")
_OPENING_SINGLE = re.compile(rf"(?i)(?:^|(?<=[\s(\[{{<“-]))'(?=[\w{_AT}“])(?!(?:re|ve|ll|m|t|s|d|n)\b)")
_OPENING_DOUBLE = re.compile(r"(?:^|(?<=[\s(\[{<`'-]))(?:\"|''(?=\w))(?!\s|$)|``")


def words(line: str) -> tuple[str, ...]:
    """The words of text that is already tokenised: separated by any white space, in Unicode's composed form."""
    return tuple(line.split()) if line.isascii() else tuple(normalize("NFC", line).split())


def tokenise(text: str) -> tuple[str, ...]:
    """The words of raw text in the Treebank's way, as the Children's Book Test has them: did n't, `` , -LRB-, Mr."""
    sentences, split = _tokenizers()
    text = " ".join(normalize("NFC", text).translate(_PLAIN_SIGNS).split())
    text = re.sub(r"@(?=\w)", _AT, text)  # a mark such as @entity5 is one word
    text = _DOTTED.sub(lambda dotted: dotted[0].replace(".", _PERIOD), text)
    text = _SPLIT_ELISION.sub(rf"{_APOSTROPHE}\1 \2", text)
    text = _ELISION.sub(_APOSTROPHE, text)
    return tuple(
        _TREEBANK_QUOTES.get(token, token.translate(_RESTORE))
        for sentence in sentences(text)
        for token in split(_quotes_by_direction(sentence))
    )


def query_words(text: str) -> tuple[str, ...]:
    """The words of a raw query, PLACEHOLDER where its blank stands: XXXXX, three or more underscores, @placeholder."""
    tokens = tokenise(_BLANK.sub(PLACEHOLDER, text))
    return tuple(piece for token in tokens for piece in _BLANK_IN_WORD.split(token) if piece)


def mark_blank(tokens: Iterable[str]) -> tuple[str, ...]:
    """The words of a tokenised query, PLACEHOLDER for any way of writing the blank."""
    return tuple(PLACEHOLDER if _BLANK.fullmatch(token) else token for token in tokens)


def _quotes_by_direction(sentence: str) -> str:
    """The sentence with opening and closing quotation marks told apart; afterwards their neighbours are lost."""
    sentence = _OPENING_DOUBLE.sub("“", sentence)
    return _OPENING_SINGLE.sub("` ", sentence).replace("''", "”").replace('"', "”")


@cache
def _tokenizers() -> tuple[Callable[[str], list[str]], Callable[[str], list[str]]]:
    """NLTK's sentence and word tokenizers, which need no downloaded data; imported late because it takes a second."""
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    word_tokenizer = NLTKWordTokenizer()
    return (
        PunktSentenceTokenizer(PunktParameters()).tokenize,  # parameters given, so that none are looked for
        lambda sentence: word_tokenizer.tokenize(sentence, convert_parentheses=True),
    )
