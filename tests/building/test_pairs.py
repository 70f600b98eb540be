"""Questions from pairs of articles, as Who Did What has them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from building.dated_articles import articles
from gareader.building.articles import Article
from gareader.building.pairs import PairQuestion, PairSettings, by_date, questions
from gareader.building.similar import Rarity, neighbours, shared, shingles
from gareader.core.errors import BuildError, ConfigError
from gareader.data.corpora import read, who_did_what
from gareader.data.examples import PLACEHOLDER


def made(settings: PairSettings | None = None, those: list[Article] | None = None) -> list[PairQuestion]:
    """The questions of these articles, or of all."""
    those = articles() if those is None else those
    return list(questions(those, Rarity.of(those), settings or PairSettings()))


def articles_of(question: PairQuestion) -> tuple[str, str]:
    """The ids of the article that asks and of the one that answers."""
    asker, passage, _ = question.example.id.split()
    return asker, passage


def answer(question: PairQuestion) -> str:
    """The right choice."""
    assert question.example.answer is not None
    return " ".join(question.example.candidates[question.example.answer])


def test_one_article_asks_and_another_on_the_same_event_answers() -> None:
    found = made()
    events = [[name.split("-") for name in articles_of(question)] for question in found]
    assert {asker[0] for asker, _ in events} == {"mine", "vote", "film", "ball", "comet", "dock"}
    assert all(asker[0] == passage[0] and asker[1] != passage[1] for asker, passage in events)


def test_a_question_in_full() -> None:
    (one,) = [question for question in made() if articles_of(question)[0] == "comet-gazette"]
    example = one.example
    assert example.query == tuple(
        f"Astronomer {PLACEHOLDER} found a comet beyond Neptune with the Atacama mirror .".split()
    )
    assert example.candidates == (("Alan", "Greaves"), ("Naomi", "Ikeda"), ("Victor", "Chandra"))
    assert answer(one) == "Naomi Ikeda"
    assert example.document[:7] == tuple("A green comet beyond Neptune was seen".split())
    assert example.id == "comet-gazette comet-herald 1"
    assert one.solved == (True, False, False, False)  # first there, but Greaves is named more; all as rare; no context


def test_persons_of_the_question_itself_are_no_choices() -> None:
    (one, other) = [question for question in made() if articles_of(question)[0] == "vote-gazette"]
    assert [answer(one), answer(other)] == ["Carla Mendez", "Samuel Okafor"]
    assert one.example.candidates == (("Carla", "Mendez"), ("Helen", "Brandt"))
    assert other.example.candidates == (("Helen", "Brandt"), ("Samuel", "Okafor"))


def test_copies_and_far_days_are_no_passages() -> None:
    pairs = {articles_of(question) for question in made()}
    assert ("mine-gazette", "mine-herald") in pairs
    assert not {("mine-gazette", "mine-copy"), ("mine-copy", "mine-gazette")} & pairs
    assert not any("anniversary" in name for pair in pairs for name in pair)
    looser = {articles_of(question) for question in made(PairSettings(overlap=1.0))}
    assert {("mine-gazette", "mine-copy"), ("mine-copy", "mine-gazette")} <= looser
    longer = {articles_of(question) for question in made(PairSettings(days=400))}
    assert any("mine-anniversary" in pair for pair in longer)


def test_a_copy_under_another_lead_is_no_passage() -> None:
    one, other = (article for article in articles() if article.id in ("mine-gazette", "mine-herald"))
    copy = replace(one, id="mine-reworded", sentences=(other.sentences[0], *one.sentences[1:]))
    assert made(None, [one, copy]) == []
    assert made(PairSettings(overlap=0.9), [one, copy]) != []


def test_a_passage_that_has_the_lead_itself_does_not_answer_it() -> None:
    gazette, herald = (article for article in articles() if article.id.startswith("comet"))
    quoting = replace(herald, sentences=(*herald.sentences, gazette.sentences[0]))
    assert shared(shingles(gazette.words), shingles(quoting.words)) < PairSettings().overlap
    assert [articles_of(question)[0] for question in made(None, [gazette, quoting])] == ["comet-herald"]


def test_the_same_text_under_two_ids_is_no_pair() -> None:
    one = next(article for article in articles() if article.id == "film-gazette")
    assert made(PairSettings(overlap=1.0), [one, replace(one, id="other")]) == []


def test_a_question_that_names_its_answer_twice_is_not_asked() -> None:
    gazette, herald = (article for article in articles() if article.id.startswith("comet"))
    lead = (*gazette.sentences[0][:-1], ",", "said", "Ikeda", ".")
    twice = replace(gazette, sentences=(lead, *gazette.sentences[1:]))
    assert [articles_of(question)[0] for question in made(None, [twice, herald])] == ["comet-herald"]


def test_headlines_and_datelines_before_the_lead_are_passed_over() -> None:
    gazette, herald = (article for article in articles() if article.id.startswith("comet"))
    headed = replace(gazette, sentences=(("Comet", "Found"), *gazette.sentences))
    (one,) = [question for question in made(None, [headed, herald]) if articles_of(question)[0] == "comet-gazette"]
    assert one.example.query[:3] == ("Astronomer", PLACEHOLDER, "found")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (PairSettings(most=2), {2}),
        (PairSettings(fewest=3), {3}),
        (PairSettings(), {2, 3}),
        (PairSettings(fewest=4), set()),
    ],
)
def test_the_number_of_choices(settings: PairSettings, expected: set[int]) -> None:
    assert {len(question.example.candidates) for question in made(settings)} == expected


def test_stricter_likeness_makes_fewer_pairs() -> None:
    assert made(PairSettings(similarity=1.0)) == made(PairSettings(entities=50)) == []


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"days": -1}, "days = -1 is below 0; 0 means the same day"),
        ({"similarity": 1.5}, "similarity = 1.5 is not between 0 and 1"),
        ({"overlap": -0.1}, "overlap = -0.1 is not between 0 and 1"),
        ({"entities": 0}, "entities = 0 is below 1; articles on one event share names"),
        ({"fewest": 1}, "fewest = 1 is below 2; a question needs something to choose from"),
        ({"fewest": 4, "most": 3}, "most = 3 is below fewest = 4; raise it"),
    ],
)
def test_impossible_settings(setting: dict[str, float], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        PairSettings(**setting)  # type: ignore[arg-type]
    assert str(error.value) == problem


def test_articles_out_of_order_or_without_a_date() -> None:
    with pytest.raises(BuildError, match="an article of 2016-03-01 comes after one of 2016-03-02; give them in order"):
        made(None, articles()[::-1][-3:])
    undated = replace(articles()[0], date=None)
    with pytest.raises(BuildError, match="article mine-copy has no date; pairs are articles of about the same day"):
        made(None, [undated])
    assert by_date(articles()[::-1]) == articles()


def test_only_the_window_is_searched_and_it_finds_what_all_pairs_would() -> None:
    """Articles of many days, each day its own event: the window's neighbours are those of a plain double loop."""
    base = [article for article in articles() if article.id.startswith(("comet", "film", "dock"))]
    first = date(2016, 1, 1)
    many = [
        replace(article, id=f"{article.id}-{day}", date=first + timedelta(days=day * 3))
        for day in range(8)
        for article in base
    ]
    rarity = Rarity.of(many)
    vectors = {article.id: rarity.vector(article) for article in many}

    def cosine(one: str, other: str) -> float:
        return sum(weight * vectors[other].get(term, 0.0) for term, weight in vectors[one].items())

    found = {known.article.id: {near.article.id for near in those} for known, those in neighbours(many, rarity, 5, 0.3)}
    assert list(found) == [article.id for article in many]
    for article in many:
        assert article.date
        expected = {
            other.id
            for other in many
            if other.id != article.id
            and other.date
            and abs((other.date - article.date).days) <= 5
            and cosine(article.id, other.id) >= 0.3
        }
        assert found[article.id] == expected
        assert 1 <= len(expected) < 10


def test_questions_come_while_articles_are_read() -> None:
    those = articles()
    read_so_far: list[str] = []

    def stream() -> Iterator[Article]:
        for article in those:
            read_so_far.append(article.id)
            yield article

    first = next(questions(stream(), Rarity.of(those), PairSettings(days=1)))
    assert articles_of(first)[0] == "mine-copy"
    assert "film-gazette" not in read_so_far


def test_vectors_have_length_one_and_prefer_rare_words() -> None:
    those = articles()
    vector = Rarity.of(those).vector(next(article for article in those if article.id == "comet-gazette"))
    assert sum(weight * weight for weight in vector.values()) == pytest.approx(1.0)
    assert vector["Neptune"] > vector["comet"] > vector["sleep"] / 2
    assert "the" not in vector
    assert vector["Neptune"] > vector.get("nine", 0.0)


def test_shared_runs_of_words() -> None:
    one, other = shingles(tuple("a b c d e f".split())), shingles(tuple("A B C D E x".split()))
    assert shared(one, one) == 1.0
    assert shared(one, other) == 0.5
    assert shared(one, frozenset()) == 0.0


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    found = made()
    path = tmp_path / "wdw.xml"
    begin, end = who_did_what.ROOT
    elements = "".join(who_did_what.written(question.example) for question in found)
    path.write_text(f"{begin}{elements}{end}", encoding="utf-8")
    assert list(read(path)) == [question.example for question in found]


def test_the_same_questions_in_every_process() -> None:
    code = "from building.test_pairs import made\nprint(*[(one.example, one.solved) for one in made()])"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


@pytest.mark.parametrize("blank", [PLACEHOLDER, "XXXXX", "____"])
def test_a_sentence_with_a_blank_of_its_own_does_not_ask(blank: str) -> None:
    def blanked(article: Article) -> Article:
        return replace(article, sentences=tuple((*words[:-1], blank, words[-1]) for words in article.sentences))

    assert made(those=[blanked(article) for article in articles()]) == []
