"""The story of a Project Gutenberg file, and nothing else of it."""

from collections.abc import Callable

import pytest

from gareader.building.gutenberg import body
from places import SAMPLES

PROSE = """The old dog barked all night, and the wind blew hard over the hills of the north,
so that nobody in the small house by the river had slept for a single hour,
and the cat had gone to live in the barn."""
STORY = f"{PROSE}\n\n{PROSE}\n"

HEADER = "The Project Gutenberg EBook of The Dog, by Ann Young\n\nThis eBook is for the use of anyone.\n\n"
NEW = f"{HEADER}*** START OF THIS PROJECT GUTENBERG EBOOK THE DOG ***\n\n\n"
SMALL_PRINT = (
    "**The Project Gutenberg Etext of The Dog**\n\n***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n"
    "Why is this here?\n\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n\n"
)
FOOTER = "\n\n\n*** END OF THIS PROJECT GUTENBERG EBOOK THE DOG ***\n\nThe licence.\n"


@pytest.mark.parametrize(
    "text", [STORY, PROSE, "", "\n\n", "THE END", "CHAPTER I\n\n" + STORY, "By Ann Young\n\n" + STORY]
)
def test_a_text_without_marks_comes_back_whole(text: str) -> None:
    assert body(text) == text


@pytest.mark.parametrize(
    "header",
    [
        NEW,
        NEW.replace("\n", "\r\n"),
        NEW.replace("THIS", "THE").replace("EBOOK THE DOG", "EBOOK THE\nDOG"),
        NEW.replace("*** ", "***"),
        NEW.replace("DOG ***", "DOG"),
        SMALL_PRINT,
        SMALL_PRINT.replace("*END*THE", "*END THE"),
        f"{NEW}Produced by Joe Doe and the\nOnline Team\n\n\n\n",
        f"{SMALL_PRINT}This etext was prepared by Joe Doe <joe@doe.org>\n\n\n\n",
        f"{NEW}[Transcriber's Note: Spelling is\n\nas it was.]\n\n\n",
        f"{NEW}THE DOG\n\nBY ANN YOUNG\n\nAuthor of The Cat\n\nNew York\n\n\n\n",
        f"{NEW}THE DOG\n\nBy\n\nAnn Young\n\nCONTENTS\n\n   The Barking  3\n   The Barn  9\n\n\n\n\n",
    ],
)
@pytest.mark.parametrize(
    "footer",
    [
        FOOTER,
        FOOTER.replace("*** END", "***END").replace("THIS", "THE"),
        "\n\n\nEnd of Project Gutenberg's The Dog, by Ann Young\n" + FOOTER,
        "\n\n\nEnd of the Project Gutenberg EBook of The Dog, by Ann Young\n" + FOOTER,
        "\n\n\nEnd of The Project Gutenberg Etext The Dog, by Ann Young\n",
        "\n\n\nTHE END\n\n\nEnd of Project Gutenberg's The Dog\n",
        "\n\nFOOTNOTES:\n\n[1] A dog.\n\n[2] A cat.\n" + FOOTER,
        "\n\n[Footnote 1: A dog.]\n" + FOOTER,
        "\n\nTranscriber's Notes\n\nSpelling is as it was.\n" + FOOTER,
    ],
)
def test_what_is_no_story_goes(header: str, footer: str) -> None:
    assert body(header + STORY + footer).strip() == STORY.strip()


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: NEW + text + FOOTER])
@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{PROSE}\n\n[Illustration]\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (f'{PROSE}\n\n[Illustration: "Who is it?" he\n    asked]\n\n{PROSE}', f"{PROSE}\n\n\n{PROSE}"),
        (f"{PROSE}\n\n[Illustration: [_signed_] a dog]\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (f"{PROSE}\n\n[Illustration: A dog\n\nand a cat]\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (f"{PROSE}\n\n[Illustration: not closed\nat all\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (f"{PROSE}\n\n[Frontispiece: A dog]\n\n[Plate 3.]\n\n[Map]\n\n{PROSE}", f"{PROSE}\n\n\n\n\n{PROSE}"),
        (PROSE.replace("the wind", "the [Illustration: a hill] wind"), PROSE.replace("the wind", "the  wind")),
        (PROSE.replace("north,\n", "north,\n[Illustration]\n"), PROSE),
        (PROSE.replace("north,\n", "north,\n[Pg 12]\n"), PROSE),
        (PROSE.replace("small", "sm[Pg 12]all").replace("wind", "wind{13}").replace("cat", "cat[p. xi]"), PROSE),
        (PROSE.replace("night,", "night,[1]").replace("hour,", "hour,[A]").replace("barn.", "barn.[*]"), PROSE),
        (f"{PROSE}\n\n[Footnote 1: A dog\nof the hills.\n\nAnd so on.]\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (f"{PROSE}\n\n  [1] A dog\n  of the hills.\n\n{PROSE}", f"{PROSE}\n\n\n\n{PROSE}"),
        (f"{PROSE}\n\n       *       *       *\n\n{PROSE}", f"{PROSE}\n\n\n\n{PROSE}"),
        (f"{PROSE}\n\n+------+\n| Typographical errors |\n+------+\n\n{PROSE}", f"{PROSE}\n\n\n{PROSE}"),
        (
            f"{PROSE}\n\n+------+\n| BEWARE OF THE DOG |\n+------+\n\n{PROSE}",
            f"{PROSE}\n\nBEWARE OF THE DOG\n\n{PROSE}",
        ),
    ],
)
def test_pictures_page_numbers_footnotes_rules_and_boxes_go(wrap: Callable[[str], str], text: str, left: str) -> None:
    assert body(wrap(text)).strip() == left


@pytest.mark.parametrize(
    "text", ["[he laughed]", "a [sic] b", "[Mapped out by Ann]", "* * a", "a {b} c", "I saw [it]."]
)
def test_brackets_and_signs_of_the_story_stay(text: str) -> None:
    assert body(f"{PROSE}\n\n{text}\n\n{PROSE}") == f"{PROSE}\n\n{text}\n\n{PROSE}"


EDITIONS = SAMPLES / "editions"


DOG, BARN = ["The old dog"], ["THE BARN"]
STORIES = {
    "columns": [*DOG, "THE BARN.", *DOG],
    "long_introduction": ["THE DOG", "INTRODUCTION", *DOG * 40, "I", "THE DOG BARKS", *DOG, "II", *BARN, *DOG],
    "plates_before_contents": ["CHAPTER I", "THE DOG BARKS", *DOG, *DOG, "CHAPTER II", *BARN, *DOG],
    "preface_contents_and_plates": [
        "THE CUSTOM-HOUSE.",
        "INTRODUCTORY TO",
        "It is a little remarkable",
        "He was a _very_ old man",
        "THE SCARLET LETTER.",
        "I.",
        "THE PRISON-DOOR.",
        "A throng of bearded men",
        "The founders of a new colony",
        "XXIV.",
        "CONCLUSION.",
        "And Hester Prynne had returned",
    ],
    "single_gaps_and_two_start_marks": ["CHAPTER I", "THE DOG BARKS", *DOG, "CHAPTER II", *BARN, *DOG],
    "titles_only": ["CHAPTER I.\nThe Dog Barks", *DOG, "CHAPTER II.\nThe Barn", *DOG],
}
"""How each paragraph begins in the stories of files that have the shapes of real editions."""


def test_every_edition_has_its_story_here() -> None:
    assert sorted(path.stem for path in EDITIONS.iterdir()) == list(STORIES)


@pytest.mark.parametrize("name", STORIES)
def test_an_edition_of_a_book_gives_its_story_alone(name: str) -> None:
    story = body((EDITIONS / f"{name}.txt").read_text(encoding="utf-8"))
    paragraphs = [block.strip("\n") for block in story.split("\n\n") if block.strip()]
    assert [text[: len(begins)] for text, begins in zip(paragraphs, STORIES[name], strict=True)] == STORIES[name]
    assert not set("[]{}*+|") & set(story)


def test_headings_stay_and_lists_go() -> None:
    front = "THE DOG\n\nby Ann Young\n\n\nTo my mother\n\n\nCONTENTS\n\nI. THE DOG BARKS\nII. THE BARN\n\n\n"
    lists = f"{front}LIST OF ILLUSTRATIONS\n\nThe dog, a drawing  Frontispiece\n\n\n\n\nTHE DOG\n\n\n\n\n"
    chapters = f"I\n\nTHE DOG BARKS\n\n  A dog at night\n  Is a joy to none.\n\n{STORY}\n\nII\n\nTHE BARN\n\n{STORY}"
    assert body(NEW + lists + chapters + FOOTER).strip() == chapters.strip()


def test_a_preface_goes_with_the_title_page() -> None:
    front = f"THE DOG\n\nEdited by Ann Young\n\n\n\nPreface\n\n\n{PROSE}\n\n\n"
    tales = f"The Dog\n\n\n{STORY}\n\n\nThe Barn\n\n\n{STORY}"
    assert (
        body(f"{NEW}{front}Contents\n\n     The Dog\n     The Barn\n\n\n\n\n{tales}{FOOTER}").strip() == tales.strip()
    )
    chapter = f"CHAPTER I. THE DOG\n\n{STORY}"
    assert body(f"{NEW}{front}{chapter}{FOOTER}").strip() == chapter.strip()


def test_a_first_chapter_whose_title_is_not_in_the_contents_stays() -> None:
    contents = "CONTENTS\n\nOf Dogs\nThe Barn\n\n\n\n\n"
    chapters = f"A DOG\n\n{STORY}\n\n\n\nTHE BARN\n\n{STORY}"
    assert body(NEW + contents + chapters + FOOTER).strip() == chapters.strip()


def test_contents_within_a_story_are_no_table_of_contents() -> None:
    story = f"CHAPTER I\n\n{STORY}\n\nCONTENTS\n\nA dog\n\n{STORY}"
    assert body(NEW + story + FOOTER).strip() == story.strip()


def test_contents_with_pages_go_wherever_they_stand() -> None:
    contents = "CONTENTS OF VOLUME II.\n\n                 PAGE\nI. The Dog            1\nII. The Barn         20"
    pictures = "ILLUSTRATIONS\n\nThe dog . . . . 3\n\nThe barn, and the cat that lived\nin it .......... 20"
    story = f"CHAPTER I\n\n{STORY}\n\n{contents}\n\n{pictures}\n\nCHAPTER 1\n\n{STORY}"
    assert body(NEW + story + FOOTER).strip() == f"CHAPTER I\n\n{STORY}\nCHAPTER 1\n\n{STORY}".strip()


def test_the_printer_is_no_part_of_the_story() -> None:
    printer = "_Printed by_ MORRISON & GIBB LIMITED, _Edinburgh_"
    assert body(f"{NEW}{STORY}\n\nTHE END\n\n{printer}{FOOTER}").strip() == STORY.strip()


@pytest.mark.parametrize("sign", ["[", "[Illustration ", "[1]", "{1 ", "| a ", "+--", "CONTENTS\n\n  1 "])
def test_many_signs_take_no_long_time(sign: str) -> None:
    body(sign * 30_000)


def test_a_long_line_takes_no_long_time() -> None:
    assert body(" " * 10**6 + "*" * 10**6 + "end of" * 10**5).endswith("end of")
