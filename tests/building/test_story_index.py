"""Stories found by the words of their questions."""

from gareader.building.story_index import StoryIndex

STORY = "The glacier calved at dawn, scientists said, and icebergs drifted towards the shipping lanes near Iceland."
OTHER = "The festival began at dawn, organisers said, and musicians wandered towards the stages."


def test_a_story_is_found_by_its_words_without_the_names() -> None:
    document = tuple(STORY.lower().replace("iceland", "@entity3").split())
    index = StoryIndex.of([document, tuple(OTHER.lower().split())])
    assert index.matches(STORY) == {0: 1.0}
    assert index.matches(OTHER) == {1: 1.0}
    assert index.matches("Nothing of the kind.") == {}


def test_a_story_with_a_few_other_words_is_found_too() -> None:
    index = StoryIndex.of([tuple(STORY.split())])
    assert 0.8 < index.matches(STORY.replace("calved", "broke"))[0] < 1


def test_a_story_about_something_similar_is_another() -> None:
    index = StoryIndex.of([tuple(STORY.split())])
    assert index.matches("At dawn icebergs drifted towards ships, scientists said.") == {}


def test_a_document_without_words() -> None:
    assert StoryIndex.of([("@entity1", ".")]).matches(STORY) == {}
