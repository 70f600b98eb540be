"""The Who Did What format: its quirks, hostile files, and one broken file per message."""

import re
from pathlib import Path
from xml.parsers import expat

import pytest

from data.corpora.writers import read_all
from gareader.core.errors import CorpusError
from gareader.data.corpora import read, who_did_what
from gareader.data.examples import Example
from places import SAMPLES

EXAMPLE = SAMPLES / "wdw.xml"
CHOICES = '<choice idx="0" correct="true">Ann</choice><choice idx="1" correct="false">Bob</choice>'
BODY = f"<question><leftcontext>x</leftcontext></question><contextart>Ann met\nBob .</contextart>{CHOICES}"
GOOD = f"<mc>{BODY}</mc>"


def test_the_example_file_word_for_word() -> None:
    harbour, race = read(EXAMPLE)
    assert harbour.id == "wdw:1"
    assert " ".join(harbour.document) == (
        "Engineer Ruth Vance found a crack in the wall of the harbour on Monday . Mayor Tom Alder closed the harbour "
        "the same day . The café of Vance 's brother stays open ."
    )
    assert " ".join(harbour.query) == (
        "The harbour of Port Alder was closed after @placeholder found a crack in the wall , Smith & Sons said ."
    )
    assert harbour.candidates == (("Ruth", "Vance"), ("Tom", "Alder"))  # in the order of idx, not of the file
    assert harbour.answer == 0
    assert race == Example(
        "APW_ENG_1",
        ("Lena", "Berg", "won", "the", "race", "before", "Ida", "Holm", ".", "Holm", "fell", "twice", "."),
        ("@placeholder", "won", "the", "race", "."),
        (("Lena", "Berg"), ("Ida", "Holm")),
        None,
    )


@pytest.mark.parametrize(
    "text",
    [
        f"<ROOT>{GOOD}{GOOD}</ROOT>",
        f"<?xml version='1.0'?>\n<!-- ours -->\n<ROOT name='a'>\n{GOOD}\n<!-- next -->\n{GOOD}\n</ROOT>\n\n",
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("\n", "\r\n"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("</mc>", "</mc >").replace("<mc>", '<mc note="3 > 2"\n>'),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("Ann met", "<p>Ann<b>met</b></p>"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("Ann", "A&#110;n").replace(" .", "&ensp;.&#xA0;"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("Ann met", "<![CDATA[Ann met]]>"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("</question>", "<rightcontext/></question>"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("leftcontext", "rightcontext"),
        f"<ROOT>{GOOD}{GOOD}</ROOT>".replace("<question", "<source name='&lt;&quot;&apos;&gt;&amp;'/><question"),
    ],
)
@pytest.mark.parametrize("piece", [1 << 16, 1])
def test_layouts_that_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, piece: int) -> None:
    monkeypatch.setattr("gareader.data.corpora.files._PIECE", piece)  # a tag may be cut anywhere
    path = tmp_path / "wdw.xml"
    path.write_text(text, encoding="utf-8", newline="")
    query = ("@placeholder", "x") if "rightcontext>" in text else ("x", "@placeholder")
    document, candidates = ("Ann", "met", "Bob", "."), (("Ann",), ("Bob",))
    assert list(read(path)) == [Example(f"wdw:{number}", document, query, candidates, 0) for number in (1, 2)]


NUMBERED = "number the choices 0, 1, 2, ..."
BROKEN = {
    "not well formed": (
        GOOD.replace("</contextart>", "</context>"),
        "3: broken XML: mismatched tag; mend this <mc>",
    ),
    "a bare ampersand": (GOOD.replace("Bob .", "Bob & co"), "3: broken XML: not well-formed (invalid token)"),
    "an unknown entity": (GOOD.replace("Bob .", "Bob &nosuch;"), "3: broken XML: undefined entity"),
    "not closed": (GOOD.removesuffix("</mc>"), "2: this <mc> is not closed; end it with </mc>"),
    "not opened": ("\n" + GOOD.removeprefix("<mc>"), "3: there is text outside of any <mc>; is a tag <mc> missing?"),
    "stray text": ("\n\nhello\n", "4: there is text outside of any <mc>"),
    "no query": (GOOD.replace(">x<", "> <"), "2: no leftcontext and no rightcontext; the question needs its text"),
    "no document": (GOOD.replace("contextart", "article"), "2: the document is empty"),
    "no choices": (GOOD.replace(CHOICES, ""), "2: no candidate answer; give at least two"),
    "an empty choice": (GOOD.replace(">Bob<", "><"), "2: a candidate answer is empty"),
    "two correct": (GOOD.replace("false", "true"), "2: 2 choices are correct; mark one"),
    "no idx": (GOOD.replace(' idx="1"', ""), f"3: a choice with idx=''; {NUMBERED}"),
    "idx that is no number": (GOOD.replace('"1"', '"b"'), f"3: a choice with idx='b'; {NUMBERED}"),
    "one idx twice": (GOOD.replace('"1"', '"0"'), f"3: a choice with idx='0'; {NUMBERED}"),
    "correct that is neither": (GOOD.replace("false", "no"), "3: a choice with correct='no'; write true or false"),
    "bytes that are no UTF-8": (GOOD.replace("Bob .", "Bob \udce9"), "3: byte 0xe9 at column 5 is not UTF-8"),
    "a declaration inside": (GOOD.replace("Bob .", "<!DOCTYPE a>"), "3: broken XML"),
    "too large": ("<mc>" + GOOD.removeprefix("<mc>").replace("x", "x " * 3000), "2: more than 0 MiB in one <mc>"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_element_between_two_good_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr(who_did_what, "LARGEST", 4000)
    monkeypatch.setattr("gareader.data.corpora.files._PIECE", 1024)
    path = tmp_path / "wdw.xml"
    path.write_text(f"<ROOT>\n{text}{GOOD}{GOOD}</ROOT>", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(CorpusError) as raised:
        list(read(path))
    assert str(raised.value).startswith(f"{path}:{message}")
    examples, bad = read_all(path)
    assert [example.document for example in examples] == [("Ann", "met", "Bob", ".")] * 2
    assert bad == [str(raised.value)]


@pytest.mark.parametrize(
    ("text", "count", "message"),
    [
        (f"<ROOT>\n{GOOD}\n", 1, ":3: the file ends here, without </ROOT>; it was cut off: get it again"),
        (f"<ROOT>\n{GOOD}\n{GOOD[:60]}", 1, ":4: the file ends inside this <mc>, without </ROOT>; it was cut off"),
        (f"<ROOT>{GOOD}{GOOD[:-5]}</ROOT>", 1, ":2: this <mc> is not closed; end it with </mc>"),
        (f"<ROOT>{GOOD}\nhello</ROOT>", 1, ":3: there is text outside of any <mc>"),
        ("<ROOT> </ROOT>", 0, ": holds no whole <mc>; is it the right file?"),
    ],
)
def test_the_end_of_a_file(tmp_path: Path, text: str, count: int, message: str) -> None:
    path = tmp_path / "wdw.xml"
    path.write_text(text)
    examples, bad = read_all(path)
    assert len(examples) == count
    assert len(bad) == 1
    assert bad[0].startswith(f"{path}{message}")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 12))


@pytest.mark.parametrize(
    "text",
    [
        f'<!DOCTYPE ROOT [<!ENTITY l0 "ha">\n{LAUGHS}]><ROOT>{GOOD.replace("Ann met", "&l11;")}</ROOT>',
        f'<!doctype ROOT [<!entity x SYSTEM "file:///etc/passwd">]><ROOT>{GOOD.replace("Ann met", "&x;")}</ROOT>',
        f'<!DOCTYPE ROOT SYSTEM "http://127.0.0.1:9/a.dtd"><ROOT>{GOOD}</ROOT>',
        '<!DOCTYPE ROOT [<!ENTITY a "<mc>">]><ROOT>&a;</ROOT>',
        f'<ROOT>{GOOD}<!ENTITY a "b">{GOOD}</ROOT>',
    ],
)
def test_declarations_are_refused_before_anything_behind_them_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    path = tmp_path / "wdw.xml"
    path.write_text(text)
    parsers: list[expat.XMLParserType] = []
    create = expat.ParserCreate

    def counted() -> expat.XMLParserType:
        parsers.append(create())
        return parsers[-1]

    monkeypatch.setattr(expat, "ParserCreate", counted)
    with pytest.raises(CorpusError, match=r"is refused: entities can blow up or fetch files; remove the declaration"):
        list(read(path))
    before = re.split("<!doctype|<!entity", text, flags=re.IGNORECASE)[0]
    assert len(parsers) == before.count("</mc>")


def test_an_idx_of_thousands_of_digits(tmp_path: Path) -> None:
    path = tmp_path / "wdw.xml"
    element = GOOD.replace('"1"', '"' + "1" * 5000 + '"')
    path.write_text(f"<ROOT>\n{element}</ROOT>\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=f"a choice with idx='{'1' * 20}'; "):
        list(read(path))
