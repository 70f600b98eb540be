"""Questions about news as people ask them."""

from gareader.building.articles import Article
from gareader.building.open_news import questions
from gareader.data.examples import PLACEHOLDER
from gareader.data.text import tokenise

STORY = """The old bridge over the river was closed on Monday after engineers found cracks in two pillars. The mayor
told reporters that repairs would cost $4 million and that buses would carry passengers to the station until October.
Some shopkeepers complained that the bridge was their only road to the market. Engineers inspected the pillars again."""
HIGHLIGHTS = ("Engineers closed the old bridge on Monday", "Repairs cost $4 million , the mayor told reporters")


def article(id_: str = "a") -> Article:
    sentences = tuple(tokenise(line + ".") for line in STORY.replace("\n", " ").split(". "))
    return Article(id_, sentences, tuple(map(tokenise, HIGHLIGHTS)))


def test_blanks_of_other_kinds_than_names_with_the_candidates_that_are_proposed():
    seen = set()
    for seed in range(12):
        for made in questions(article(), seed):
            example = made.example
            assert example.answer is not None
            answer = example.candidates[example.answer]
            filled = " ".join(example.query).replace(PLACEHOLDER, " ".join(answer))
            assert filled in {" ".join(tokenise(text)) for text in HIGHLIGHTS}
            assert set(answer) <= set(example.document)
            seen.add(" ".join(answer))
    assert {"mayor", "Monday"} <= seen
    assert len(seen) >= 4


def test_at_most_two_blanks_of_a_highlight_and_the_same_for_the_same_seed():
    made = questions(article(), 3)
    assert 0 < len(made) <= 4
    assert made == questions(article(), 3)
    assert any(questions(article(), 3) != questions(article(), seed) for seed in range(4, 9))
    assert len({each.example.id for each in made}) == len(made)
