"""Part-of-speech taggers behind one small interface: sentences in, a Penn Treebank tag for each word out."""

from collections.abc import Callable, Sequence

from gareader.errors import BuildError, did_you_mean

Tagger = Callable[[Sequence[Sequence[str]]], list[list[str]]]


def load_tagger(name: str) -> Tagger:
    """The tagger of that name."""
    if name not in TAGGERS:
        raise BuildError(f"unknown tagger {name!r}; {did_you_mean(name, TAGGERS)}")
    return TAGGERS[name]()


def perceptron() -> Tagger:
    """NLTK's averaged perceptron, read from its JSON files."""
    from gareader.building.perceptron import Perceptron

    return Perceptron.load().tag


def spacy() -> Tagger:
    """spaCy's small English pipeline, its tagger alone."""
    try:
        import spacy
        from spacy.tokens import Doc

        pipeline = spacy.load("en_core_web_sm", exclude=["parser", "ner", "lemmatizer"])
    except (ImportError, OSError):
        way_out = "pip install spacy && python -m spacy download en_core_web_sm"
        raise BuildError(f"the tagger 'spacy' is not installed; type: {way_out}") from None
    return lambda sentences: [
        [token.tag_ for token in document]
        for document in pipeline.pipe(Doc(pipeline.vocab, words=list(words)) for words in sentences)
    ]


TAGGERS = {"nltk": perceptron, "spacy": spacy}
"""The taggers by the names that `--tagger` takes."""
