"""Names in news text."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gareader.data.examples import Words
from gareader.data.language.entities import Entity, compatible, find_entities
from gareader.data.language.names import find_mentions
from gareader.data.language.perceptron import Perceptron
from gareader.data.language.sentences import news_sentences


def names(text: str) -> list[str]:
    """The mentions of a raw text."""
    return [" ".join(mention.words) for mention in find_mentions(news_sentences(text))]


def entities(text: str) -> dict[str, list[str]]:
    """Each entity's name with its mentions."""
    return {
        " ".join(entity.name): [" ".join(mention.words) for mention in entity.mentions]
        for entity in find_entities(news_sentences(text))
    }


def persons(text: str) -> list[str]:
    """The names of the entities that look like persons."""
    return [" ".join(entity.name) for entity in find_entities(news_sentences(text)) if entity.person]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left the Bank of England for Rio de Janeiro.", ["Bank of England", "Rio de Janeiro"]),
        ("We met Aung San Suu Kyi in St. Louis.", ["Aung San Suu Kyi", "St. Louis"]),
        ("They saw Jan Verhoeven on Jan. 5.", ["Jan Verhoeven"]),
        ("Troops of Bashar al-Assad fired at Osama bin Laden.", ["Bashar al-Assad", "Osama bin Laden"]),
        ("They called it al Qaeda and the Centers for Disease Control.", ["al Qaeda", "Centers for Disease Control"]),
        ("He saw the Lord of the Rings with Ursula von der Leyen.", ["Lord of the Rings", "Ursula von der Leyen"]),
        ("It was Smith of Boston and Jones for Texas.", ["Smith", "Boston", "Jones", "Texas"]),
        ("The ship left Port Said for New York.", ["Port Said", "New York"]),
        ("A film by George W. Bush and Martin Luther King Jr. is out.", ["George W. Bush", "Martin Luther King Jr."]),
        ("They own an iPhone and trust d'Estaing.", ["iPhone", "d'Estaing"]),
    ],
)
def test_runs_of_capitals_with_their_joints(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was Mr. Obama, then Sen. Dick Durbin.", ["Obama", "Dick Durbin"]),
        ("Then Secretary of State John Kerry rose.", ["John Kerry"]),
        ("On Monday Egyptian President Mohamed Morsy rose.", ["Egyptian", "Mohamed Morsy"]),
        ("It met White House Press Secretary Jay Carney.", ["White House", "Jay Carney"]),
        ("There the Prime Minister spoke to the Foreign Ministry.", ["Foreign Ministry"]),
        ("It belongs to General Motors and the Justice Department.", ["General Motors", "Justice Department"]),
        ("Then Rep. John Lewis rose.", ["John Lewis"]),
    ],
)
def test_titles_are_not_part_of_a_name(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It hired Analyst Dan Ives.", ["Dan Ives"]),
        ("It met House Minority Leader Nancy Pelosi.", ["House", "Nancy Pelosi"]),
        ("Then CNN Anchor Jim Clancy rose.", ["CNN", "Jim Clancy"]),
        ("Then Ambassador Chris Hill rose.", ["Chris Hill"]),
        ("They met U.S. Secretary of State John Kerry.", ["U.S.", "John Kerry"]),
        ("We saw Khalid Sheikh Mohammed.", ["Khalid Sheikh Mohammed"]),
        ("The envoy to Libya Christopher Stevens died.", ["Libya", "Christopher Stevens"]),
        ("We saw Georgia Republican Saxby Chambliss.", ["Georgia", "Republican", "Saxby Chambliss"]),
        ("It beat the Republican Party.", ["Republican Party"]),
        ("The German Parliament met the American Red Cross.", ["German", "Parliament", "American Red Cross"]),
    ],
)
def test_names_in_a_row_are_cut_apart(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He is John McCain, R-Arizona, or (D-Iowa) there.", ["John McCain"]),
        ("The Iranian-flagged ship of a U.S.-led force was Mumbai-style.", []),
        ("The Israeli-Palestinian and anti-American talks with then-Taiwan failed.", []),
        ("We met Ban Ki-moon, an African-American and Julia Louis-Dreyfus.",
         ["Ban Ki-moon", "African-American", "Julia Louis-Dreyfus"]),
    ],
)  # fmt: skip
def test_words_with_a_hyphen(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please call. Investors left. Stir it. Squeeze a lemon. Retired people ran.", []),
        ("They sent the Flotilla. The flotilla is large.", []),
        ("Real Madrid won. We like Real Madrid.", ["Real Madrid", "Real Madrid"]),
        ("Associated Press reporters ran.", ["Associated Press"]),
        ("Victor Chandra said so.", ["Victor Chandra"]),
        ("Al Qaeda fell.", ["Al Qaeda"]),
        ("But with Paul he ran. READ MORE. He did NOT run.", ["Paul"]),
    ],
)
def test_common_words_with_a_capital(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is AT&T with J. K. Rowling.", ["AT&T", "J. K. Rowling"]),
        ("It is St. Peter's Basilica.", ["St. Peter 's Basilica"]),
        ("It is the National Organization for Women.", ["National Organization for Women"]),
        ("It is U.S. Customs and Border Protection.", ["U.S. Customs and Border Protection"]),
        ("It is General Motors and Toyota.", ["General Motors", "Toyota"]),
        ("We saw del Toro and van Gaal.", ["del Toro", "van Gaal"]),
    ],
)
def test_names_of_several_words_are_whole(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_headlines_in_capitals_have_the_names_that_are_no_words() -> None:
    text = "STOCKS FALL AS POWELL WARNS OF INFLATION\n\nJerome Powell spoke."
    assert entities(text) == {"Jerome Powell": ["POWELL", "Jerome Powell"]}


def test_a_title_alone_is_a_name_only_where_it_is_a_last_name() -> None:
    assert names("Then the King laughed.") == []
    assert names("We saw Larry King there. Then King laughed.") == ["Larry King", "King"]


def test_the_possessive_and_days_end_a_name() -> None:
    assert names("He read Obama's Monday speech in May at Harvard's door.") == ["Obama", "Harvard"]


def test_capitals_that_name_nobody() -> None:
    assert names("On TV I saw DNA, at 5 A.M. or so. NEW: It rained.") == []


def test_a_people_before_a_person_is_a_name_of_its_own() -> None:
    assert names("It beat Briton Andy Murray.") == ["Briton", "Andy Murray"]
    assert names("It sued the British Broadcasting Corporation.") == ["British Broadcasting Corporation"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smoke rose. Nobody ran.", []),  # unknown, and a common starter
        ("Smoke rose over Smoke.", ["Smoke", "Smoke"]),  # capitalised inside too
        ("Bush fires burn. The bush burns.", []),  # its lower case is here
        ("Barack Obama rose.", ["Barack Obama"]),
        ("Yesterday Obama rose.", ["Obama"]),
        ("Astronomer Naomi Ikeda rose.", ["Naomi Ikeda"]),  # what she does, and not her name
        ("Striker Sanja Iker rose.", ["Sanja Iker"]),
        ("Peter Paul Rubens rose.", ["Peter Paul Rubens"]),
        ("NATO rose.", ["NATO"]),
        ("Egyptian troops rose.", ["Egyptian"]),
        ("New York rose.", ["New York"]),
        ("He asked: Why did Paul go?", ["Paul"]),
        ('They saw the film "Star Wars" in a star-lit room of a star.', ["Star Wars"]),
    ],
)
def test_a_capital_where_one_is_due_says_nothing_by_itself(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_in_a_headline_only_known_names_are_names() -> None:
    text = "Storm Hits Cuba As Thousands Flee Havana\n\nA storm hit Havana on Monday. Thousands flee."
    assert names(text) == ["Cuba", "Havana", "Havana"]
    assert names("POLICE ARREST FORTY PROTESTERS IN KABUL\n\nIt is so.") == ["KABUL"]


def test_a_tagger_judges_where_capitals_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def tag(self: object, sentences: Sequence[Words]) -> list[list[str]]:
        return [["NNP" if word == "Zorblax" else "NN" for word in words] for words in sentences]

    monkeypatch.setattr(Perceptron, "tag", tag)
    assert names("Quimbly rose. Zorblax rose.") == ["Zorblax"]


def test_last_names_go_to_the_most_recent_full_name() -> None:
    text = "Then Barack Obama spoke. Later Obama left. We met Michelle Obama. Here Obama smiled."
    assert entities(text) == {
        "Barack Obama": ["Barack Obama", "Obama"],
        "Michelle Obama": ["Michelle Obama", "Obama"],
    }


def test_sentences_beside_the_text_mean_the_one_it_is_most_about() -> None:
    text = news_sentences("Then Barack Obama spoke. Later Obama left. We met Michelle Obama. So Obama won.")
    last = find_entities(text, body=3)[0]
    assert (last.name, len(last.mentions)) == (("Barack", "Obama"), 3)


def test_a_last_name_before_its_full_name() -> None:
    assert entities("Then Morsy spoke. It was Mohamed Morsy.") == {"Mohamed Morsy": ["Morsy", "Mohamed Morsy"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The European Union met. It is the EU.", {"European Union": ["European Union", "EU"]}),
        ("The United States met. It is the U.S. there.", {"United States": ["United States", "U.S."]}),
        (
            "The U.S. won. It is America, the United States or the US. Americans ran.",
            {"United States": ["U.S.", "America", "United States", "US", "Americans"]},
        ),
        ("Then President Obama ran. Barack Obama sat.", {"Barack Obama": ["Obama", "Barack Obama"]}),
        ("We read J. K. Rowling and J.K. Rowling.", {"J. K. Rowling": ["J. K. Rowling", "J.K. Rowling"]}),
        ("We met José Mourinho. It was Jose Mourinho.", {"José Mourinho": ["José Mourinho", "Jose Mourinho"]}),
        ("The GOP met. Its Republicans ran.", {"GOP": ["GOP", "Republicans"]}),
        ("The Egyptian army left Egypt.", {"Egypt": ["Egyptian", "Egypt"]}),
        ("LONDON, a city. They love London.", {"LONDON": ["LONDON", "London"]}),
        ("It was Aung San Suu Kyi. Then Suu Kyi left.", {"Aung San Suu Kyi": ["Aung San Suu Kyi", "Suu Kyi"]}),
        (
            "It was Barack Hussein Obama or Barack Obama.",
            {"Barack Hussein Obama": ["Barack Hussein Obama", "Barack Obama"]},
        ),
        ("We saw Bashar al-Assad. Al-Assad left.", {"Bashar al-Assad": ["Bashar al-Assad", "Al-Assad"]}),
        ("We saw Bashar al-Assad. Then Assad left.", {"Bashar al-Assad": ["Bashar al-Assad", "Assad"]}),
        ("We saw Hillary Clinton. Then Hillary left.", {"Hillary Clinton": ["Hillary Clinton", "Hillary"]}),
        (
            "It is The New York Times. Yes, the New York Times.",
            {"New York Times": ["New York Times", "New York Times"]},
        ),
    ],
)
def test_forms_of_one_entity(text: str, expected: dict[str, list[str]]) -> None:
    assert entities(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It is South Korea. It is Korea.",
        "It is the Bank of England. It is England.",
        "It is San Marino. It is Marino.",
        "It is the Bank of New England. It is New England.",
        "It is West Virginia. It is Virginia.",
        "It is the Washington Post. It is Washington.",
    ],
)
def test_the_end_or_beginning_of_a_place_is_another_place(text: str) -> None:
    assert len(entities(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Then Mr. Petrov rose.",
        "President Petrov met another president.",
        "Then Ivana Petrova, who rose, fell.",
        "Then Ivana Petrova, 34, fell.",
        "Then Ivana Petrova said so.",
        "He was met by Ivana Petrova and her son.",
        "We saw Ivana Petrova. Then Petrova fell.",
        "We saw John Petrov.",
        "We saw Ivan Petrov Jr. there.",
    ],
)
def test_signs_of_a_person(text: str) -> None:
    assert len(persons(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "We saw Petrov.",  # one word without a sign
        "The Petrov Group said so.",
        "It met in Ivana Petrova, who rose.",  # in a place
        "Then the Ivana Petrova said so.",
        "Then NATO said so.",
        "Then Boeing 747 said so.",
        "Then British Airways said so.",
        "Then South Korea said he won.",
        "Then the University of Texas said so.",
    ],
)
def test_firms_places_and_the_unknown_are_no_persons(text: str) -> None:
    assert persons(text) == []


def test_names_of_one_person_in_two_texts() -> None:
    assert compatible(("Obama",), ("Barack", "Obama"))
    assert compatible(("B.", "Obama"), ("Barack", "Obama"))
    assert not compatible(("Michelle", "Obama"), ("Barack", "Obama"))
    assert not compatible(("Barack",), ("Barack", "Obama"))


def test_the_form_within_some_sentences() -> None:
    obama = find_entities(news_sentences("Then Obama spoke. It was Barack Obama."))[0]
    assert obama.form() == obama.name == ("Barack", "Obama")
    assert obama.form(range(1)) == ("Obama",)
    assert obama.form(range(5, 6)) is None


@given(st.lists(st.lists(st.sampled_from("The King of Rome Obama Mr. -- . '' said al 's new New EU 5 XX a &".split()))))
def test_mentions_are_what_stands_there_and_never_overlap(rows: list[list[str]]) -> None:
    text = [tuple(row) for row in rows]
    found: list[Entity] = find_entities(text)
    covered: set[tuple[int, int]] = set()
    for entity in found:
        for mention in entity.mentions:
            assert text[mention.sentence][mention.start : mention.end] == mention.words
            places = {(mention.sentence, place) for place in range(mention.start, mention.end)}
            assert places
            assert covered.isdisjoint(places)
            covered |= places
    assert sum(len(entity.mentions) for entity in found) == len(find_mentions(text))
