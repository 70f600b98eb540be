"""The tokenised sentences of raw English text, as Stanford CoreNLP of 2015 made them for the Children's Book Test.

CoreNLP's lexer takes the longest match of all its rules; here the alternatives are in an order in which the first match
is the longest. Its quirks are kept, because the corpus has them and the models know them.

Quotation marks are read in two ways. `book_sentences` does as the corpus, which was made from plain files: the
direction of a single mark depends only on the two characters after it, so that 'Well opens a quotation and 'I does not;
the mark before 'I then belongs to the sentence before it. `sentences` reads the direction that the text has, in curly
marks or by a space before the mark.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from unicodedata import combining, normalize

from gareader.data.examples import Words

_SIGNS = {
    **dict.fromkeys("—―–‒", "--"),
    "…": "...",
    "¼": " 1/4",
    "½": " 1/2",
    "¾": " 3/4",
    **dict.fromkeys("\xad\ufeff\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f", None),
}
_PLAIN = str.maketrans(
    {
        **_SIGNS,
        **dict.fromkeys("‘’‚‛ʼ´", "'"),
        **dict.fromkeys("“”„‟«»", '"'),
        "£": "#",
        **dict.fromkeys("€¤¥", "$"),
    }
)
_DIRECTED = str.maketrans(
    {
        **_SIGNS,
        **dict.fromkeys("’‛ʼ´", "'"),
        "‚": "‘",
        **dict.fromkeys("„«", "“"),
        **dict.fromkeys("‟»", "”"),
    }
)
_ITALICS = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
"""Underscores around italics; the corpus has none."""
_ACCENTS = re.compile(r"[^\w\s\0-\u02ff]{30,}")
"""More accents in a row than any language has; other characters may be among them."""

_OPENING_DOUBLE = re.compile(r"""(?:^|(?<=[\s(\[{<]))"(?=\S)|(?<=['‘-])"(?=[\w@'‘])""")
_ELIDED = r"(?i:em|cause|till?|tis|twas|tisn't|twasn't|n')(?!\w)"
_OPENING_SINGLE = re.compile(
    rf"""(?:^|(?<=[\s(\[{{<“-]))'(?=[\w@“])(?!{_ELIDED}|(?i:re|ve|ll|[mtsdn]|\d\d|\d0s)(?!\w))"""
)
_APART = re.compile(r"(?i)(?<!\w)('t) (?=(?:is|was)\b)")
_INSIDE = re.compile(r"(?<=[^\W\d_]{2})'(?=[^\W\d_]{2})(?!(?i:re|ve|ll|em)(?![^\W\d_]))")
"""The apostrophe of a name such as Dell'Osso, where the corpus has an opening mark; becomes ’, a letter of the word."""
_NO_SPACE = re.compile(r"([!?])(?=[^\W\d_])")
_TURNED = re.compile(rf"‘(?={_ELIDED})")
"""Word processors write an apostrophe before a word as an opening mark."""

_BEFORE_SMALL = """jan feb mar apr jun jul aug sept? oct nov dec mon tues? wed thu(?:rs)? fri ala ariz (?-i:A)z
    (?-i:A)rk calif colo conn ct dak (?-i:D)el fla ga (?-i:I)ll ind kans? ky (?-i:L)a (?-i:M)ass md mich minn (?-i:M)iss
    mo mont neb nev okla (?-i:O)re (?-i:P)a penn tenn (?-i:T)ex va vt (?-i:W)ash wisc? wyo inc cos? corp pp?t[ye]s? ltd
    plc rt bancorp bhd assn univ intl sys tel est ext sq jr bros ed\\.d ph\\.d esq etc al seq bldg"""
"""Abbreviations that are followed by a small letter; before a capital or a wide space they end the sentence too."""

_BEFORE_CAPITAL = """mrs? ms (?-i:M)iss drs? profs? sens? reps? attys? lt col gen messrs govs? adm rev maj sgt cpl pvt
    capt ste? ave pres lieut rt hon brig co?mdr pfc spc supts? det mt ft adj adv asst assoc ens insp mlle mme msgr sfc
    sr vs alex wm jos cie cf treas ph invt elec natl m[ft]g dept blvd rd [A-Z](?:\\.[A-Z]){0,9}+"""
"""Abbreviations and initials that are followed by a capital; they end a sentence only before `_SENTENCE_STARTS`."""

_BEFORE_DIGIT = "ca figs? prop nos? sect?s? arts? paras? bldg pp op approx (?-i:P)t rs"

_SENTENCE_STARTS = """About According Additionally After An A As At But Did During Earlier He Her Here How However If In
    It Last Many More Mr\\. Ms\\. Now Once One Other Our She Since So Some Such That The Their Then There These They
    This We When While What Who Why Yet You"""
"""After initials, these words begin a sentence."""


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_SMALL, _CAPITAL, _DIGIT = _any(_BEFORE_SMALL), _any(_BEFORE_CAPITAL), _any(_BEFORE_DIGIT)
_LETTER = r"[^\W\d_]"
_CLITIC = rf"'(?i:[msd]|re|ve|ll)(?!{_LETTER})"
_HYPHENATED = r"(?:-(?:[dDoOlL]'(?=\w\w))?[\w’]++)"
_STARTS = "|".join(f"{word[0]}(?i:{word[1:]})" for word in _SENTENCE_STARTS.split())
_A_SENTENCE = rf"(?=\s++(?:{_STARTS})[\s?!])"
_WIDE_OR_CAPITAL = r"(?=\n|\s[\sA-Z]|\s*\Z)"
"""In the sources lines ended with two characters, so that the end of a line was a wide space."""

_TOKEN = rf"""(?x)
(?:
  (
    [^\W_]++ (?= ["\s)\]] | -- | [,;:!?]++(?!\w) ) (?<!(?i:cannot)) (?<!(?i:unno|onna|anna|otta|emme|imme))
  | ,(?!\d)
  | (?=\w) (?:
      (?i: can(?=not) | du(?=nno) | n(?=no) | (?:gon|wan)(?=na) | got(?=ta) | (?:lem|gim)(?=me) )
        (?= [a-zA-Z]{{2,3}}+(?!-?\w) )
    | (?= {_LETTER}++' ) (?:
        (?i: n't(?!{_LETTER}) | cap'n | c'est | c'mon | cont'd\.? | diff'rent | dunkin' | e'er | ev'ry | li'l | nat'l
          | nor'easter | ol' | s'mores | somethin' )
      | (?: (?![nN]'[tT]) {_LETTER} )++ (?<![nN]) (?=[nN]'[tT])
      | [dDoOlL]'\w\w++ {_HYPHENATED}*+
      | [A-HJ-XZn]'{_LETTER}{{2,}}+
      | {_LETTER}{{2,}}+ (?<=[aeiouyAEIOUY]) (?!{_CLITIC}) ' [aeiouA-Z] {_LETTER}*+
      | [yY]'(?={_LETTER})
      | [lLdDjJ]'
      )
    | \w [\w.,’]{{0,60}}+ {_HYPHENATED}++ (?: (?<=-[A-Z]) (?:\.[A-Z])++ \.? | \.(?=[,;:]) )?
    | \w++ (?: -\w++ ){{0,2}} (?: /\w++(?:-\w++){{0,2}} ){{1,2}}
    )
  )
| (?P<twice> (?=\w{{1,8}}\.) (?: (?i:{_SMALL})\.{_WIDE_OR_CAPITAL} | (?:[A-Za-z]\.){{2,9}}+{_A_SENTENCE} ) )
| ( (?=\w{{1,8}}\.) (?:
      [A-Za-z](?=\.{_A_SENTENCE}) | (?i:{_DIGIT})\.(?=[^\S\n]?\d) | (?i:{_SMALL}|{_CAPITAL})\.(?!{_LETTER}) ) )
| (?P<end> \.(?! \.\. | [ ]\.[ ]\. | \d ) | [!?]++ )
| (?P<close> (?: '' | " ) (?![A-Za-z0-9$]) | [)\]}}>”] )
| (?P<open> '' | ["(\[{{“] )
| ( (?i: 't(?=is|was) | 'till? | 'cause | 'em | 'n' ) | {_CLITIC} | 'n(?=\s) | '[2-9]0s | '\d\d(?=\s) )
| (?P<single> '(?=[A-Za-z]\S) | ‘ )
| (?P<last> ' )
| (?P<dots> \.{{3,}}?(?=\.\s+{_LETTER}) | \.{{3,}}+ | \.(?:[ ]\.){{2,}}?(?=[ ]\.\s+{_LETTER}) | \.(?:[ ]\.){{2,}}+ )
| (?P<dash> ----?(?!-) )
| (
    [A-Z]++(?:[+&][A-Z]++)++
  | [-+]? (?: \d*+(?:[.,]\d++)++ | \d++(?:[.:,]\d++)*+(?!\w) )
  | [\w’\u0300-\u1fff]++ (?: (?<!\d)[.!?]{_LETTER}\w*+ )*+ (?: \.(?=[,;:]) )?
  | (?<![^\W_])@\w++ | -(?i:[LR][RSC]B)-
  | [:;=] [-o*']? [()\[\]DPdpO\\{{@|] (?![A-Za-z0-9])
  | -++ | \*++ | =++ | [#]++ | @++ | _++ | ``? | [^\w\s\x00-\x1f\x7f-\x9f]
  )
) \s*+
"""

_OPENING = {'"': "``", "''": "``", "“": "``", "(": "-LRB-", "[": "-LSB-", "{": "-LCB-"}
_CLOSING = {'"': "''", "”": "''", ")": "-RRB-", "]": "-RSB-", "}": "-RCB-"}
_ONLY = {"single": "`", "last": "'", "dots": "...", "dash": "--"}
"""The tokens of groups that always give the same token."""


def book_sentences(text: str) -> Iterator[Words]:
    """Split the text of a book into sentences as the corpus has them."""
    return _lexed(_cleaned(text, _PLAIN).replace("\r\n", "\n"))


def sentences(text: str) -> Iterator[Words]:
    """Split any raw text into sentences; marks such as @entity5 are one token, and tokenised text stays as it is."""
    text = _NO_SPACE.sub(r"\1 ", " ".join(_cleaned(text, _DIRECTED).split()))
    if '"' in text:
        text = _OPENING_DOUBLE.sub("“", text)
    if "'" in text:
        text = _INSIDE.sub("’", _APART.sub(r"\1", _OPENING_SINGLE.sub("‘", text)))
    if "‘" in text:
        text = _TURNED.sub("'", text)
    lexed = _lexed(text + "\0")  # not the end: the abbreviation of a candidate such as Smith Jr. ends no sentence
    if "’" not in text:
        return lexed
    return (tuple(token.replace("’", "'") for token in sentence) for sentence in lexed)


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC), in linear time."""
    return normalize("NFC", _ACCENTS.sub(_in_order, text))


def _in_order(signs: re.Match[str]) -> str:
    """Sort the accents as `normalize` does, which takes quadratic time for a long row."""
    apart = "".join(normalize("NFD", sign) for sign in signs[0])
    rows = groupby(apart, key=lambda sign: combining(sign) > 0)
    return "".join("".join(sorted(row, key=combining)) for _, row in rows)


def _cleaned(text: str, signs: dict[int, str | None]) -> str:
    """The text in composed form, with other signs, and without the underscores of italics."""
    if not text.isascii():
        text = composed(text).translate(signs)
    return _ITALICS.sub("", text) if "_" in text else text


def _lexed(text: str) -> Iterator[Words]:
    """Split cleaned text into sentences of tokens."""
    sentence: list[str] = []
    ended = False
    for match in re.finditer(_TOKEN, text):  # compiled when it is first used: that takes as long as to load a model
        kind, token = match.lastgroup, match[match.lastindex or 0]
        if ended and kind != "close" and kind != "last":  # closing marks belong to the sentence before
            yield tuple(sentence)
            sentence = []
            ended = False
        if kind is None:
            sentence.append(token)
        elif kind == "end":
            sentence.append(token)
            ended = True
        elif kind == "open":
            sentence.append(_OPENING[token])
        elif kind == "close":
            sentence.append(_CLOSING.get(token, token))
        elif kind == "twice":
            sentence += (token, ".")
            ended = True
        else:
            sentence.append(_ONLY[kind])
    if sentence:
        yield tuple(sentence)
