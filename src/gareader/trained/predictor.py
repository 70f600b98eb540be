"""From words to answers: models that answer questions about new text."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gareader.core.config import from_table
from gareader.core.errors import GareaderError, ModelError, QuestionError, extras_told
from gareader.data.arrays import Batch, ReaderOutput
from gareader.data.batching import BEGIN, END, Arrays, Collator
from gareader.data.examples import PAIRS, WORDS, Attention, Example, Prediction, mean_prediction
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.kernels.library import chosen_precision
from gareader.readers.gated_attention_numpy import GatedAttentionInNumpy, shapes
from gareader.readers.gated_attention_settings import GATED_ATTENTION, GatedAttentionConfig
from gareader.trained.ensembles import members
from gareader.trained.folder import READER_JSON, as_model_errors, read_settings
from gareader.trained.models import BOX, DEFAULT, folder
from gareader.trained.stored import Stored, read
from gareader.trained.temperatures import AS_TRAINED, Temperatures

if TYPE_CHECKING:
    from gareader.data.rows import Question

WINDOW = 64
"""Batches read ahead, so that examples of similar length can share one."""


SHORT, STRANGE = 20, 0.2
"""Shorter texts, and texts with a larger share of distinct words without a vector, are unlike those of any training."""


class Answering(ABC):
    """Answers cloze questions, with one model or several; safe to use from several threads."""

    def answer(self, document: str, query: str, candidates: Iterable[str] | None = None) -> Prediction:
        """The answer to one question in raw text, with the attention that led to it.

        The query has a blank such as XXXXX or ___, or is a question: Who has the lamp? Without candidates, they are
        proposed from the document.
        """
        from gareader.data.text import question  # loading a model does not wait for the rules of English

        return self.answer_example(question(document, query, candidates))

    def answer_example(self, example: Example) -> Prediction:
        """The answer to one question, with the attention that led to it."""
        prediction = self.predict([example], attention=True)[0]
        if not prediction.answerable:
            problem = "no candidate occurs in the document, so there is nothing to point at"
            raise QuestionError(f"{example.id}: {problem}; check the spelling of the candidates, or give others")
        return prediction

    def answer_many(
        self,
        questions: Iterable["Question"],
        *,
        batch_size: int = 32,
        progress: Callable[[int], object] = lambda answered: None,
    ) -> Iterator[Prediction]:
        """The answers to any number of questions, in their order; documents of similar length are read together.

        A question is an Example, (document, query), (document, query, candidates), or a dict with these keys and, if
        you like, id and answer. They are read as the answers are taken, 64 batches ahead. A question that is none
        raises QuestionError with its number, after the answers to those before it. `progress` is called with the number
        of questions answered so far.
        """
        from gareader.data.rows import example_of

        stream, total = enumerate(questions, 1), 0
        problem: GareaderError | None = None
        while problem is None:
            window: list[Example] = []
            try:
                window.extend(example_of(each, number) for number, each in islice(stream, WINDOW * batch_size))
            except GareaderError as error:
                problem = error
            if not window:
                break
            order = sorted(range(len(window)), key=lambda i: len(window[i].document))
            answered: dict[int, Prediction] = {}
            for batch in _batches(window, order, batch_size):
                answered.update(zip(batch, self.predict([window[i] for i in batch]), strict=True))
                progress(total + len(answered))
            total += len(window)
            yield from (answered.pop(i) for i in range(len(window)))
        if problem is not None:
            raise problem

    @abstractmethod
    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions, read as one batch."""

    @abstractmethod
    def permuted(self, permutations: int) -> "Answering":
        """Average the answers of models that read permuted marks over so many permutations."""


def _batches(examples: Sequence[Example], order: Sequence[int], size: int) -> Iterator[list[int]]:
    """Cut the order into batches of at most that size, none of which costs more than the largest question alone may."""
    batch, longest, others = list[int](), 0, 0
    for place in order:
        longest, others = max(longest, len(examples[place].document)), max(others, examples[place].others)
        padded = (len(batch) + 1) * longest
        if batch and (len(batch) == size or padded > WORDS or padded * others > PAIRS):
            yield batch
            batch, longest, others = [], len(examples[place].document), examples[place].others
        batch.append(place)
    if batch:
        yield batch


class ArrayReader(Protocol):
    """A reader that takes and returns numpy arrays: in numpy, or `OnTorch`."""

    def __call__(self, batch: Batch[Arrays], *, attention: bool = False) -> ReaderOutput[Arrays]:
        """The reader's output for a batch."""


class Predictor(Answering):
    """Answers cloze questions with one model."""

    def __init__(
        self,
        reader: ArrayReader,
        collator: Collator,
        temperatures: Temperatures = AS_TRAINED,
        *,
        permutations: int = 1,
        source: Path | None = None,
    ) -> None:
        """With `permutations`, answers of a reader of permuted marks are averaged over so many.

        `source` is the folder that the model was loaded from.
        """
        self.reader = reader
        self.collator = collator
        self.temperatures = temperatures
        self.permutations = permutations if collator.anonymity == "permuted" else 1
        self.source = source

    def __repr__(self) -> str:
        permutations = f", {self.permutations} permutations" * (self.permutations > 1)
        return f"<Predictor {_name(self.source)}, {len(self.collator.vocabulary):,} words{permutations}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name or folder of the model, which is then loaded again, for pools of processes and data frames.

        gareader itself reads no pickle from any file, and the weights of a model are never in one.
        """
        if self.source is None:
            problem = "this model was not loaded from a folder, and a pickle holds the folder, not the weights"
            raise ModelError(f"{problem}; pickle a model of gareader.load")
        return _reopened, (_place(self.source), self.permutations)

    def permuted(self, permutations: int) -> "Predictor":
        """A predictor with the same reader, whose answers are averaged over so many permutations."""
        same = self.reader, self.collator, self.temperatures
        return Predictor(*same, permutations=permutations, source=self.source)

    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions, read as one batch."""
        output = self.reader(self.collator(examples), attention=attention)
        draws = range(-1, -self.permutations, -1)
        others = [self.reader(self.collator(examples, draw)) for draw in draws]
        mean = output.log_probabilities
        if others:
            rows = np.stack([each.log_probabilities for each in (output, *others)])
            mean = np.logaddexp.reduce(rows) - log(self.permutations)
        if np.isnan(mean).any():
            problem = "its weights are so large that its probabilities are no numbers"
            raise ModelError(f"model {_name(self.source)}: {problem}; take another model, or train it anew")
        predictions = []
        for b, (example, row) in enumerate(zip(examples, mean.tolist(), strict=True)):
            looks = None
            if output.document_attention is not None:
                query = (BEGIN, *example.query, END)
                D, Q = len(example.document), len(query)
                # copies: a view would keep the whole batch
                hops = tuple(hop[b, :D, :Q].copy() for hop in output.hop_attention)
                looks = Attention(query, hops, output.document_attention[b, :D].copy())
            prediction = Prediction(example, tuple(row[: len(example.candidates)]), looks, self.remark(example))
            predictions.append(self.temperatures.tempered(prediction))
        return predictions

    def remark(self, example: Example) -> str:
        """What makes the text unlike those that models are trained on, if anything."""
        if (count := len(example.document)) < SHORT:
            return f"the text has only {count} words, and models are trained on longer ones"
        words = {word for word in example.document if word.isalpha()}
        unknown = sum(self.collator.row(word) is None for word in words)
        if unknown > STRANGE * len(words):
            return f"the model does not know {unknown / len(words):.0%} of the words of this text"
        return ""


class Ensemble(Answering):
    """Answers with the mean of its members' probabilities, each at its own temperature, then at the ensemble's."""

    def __init__(
        self, members: Sequence[Answering], temperatures: Temperatures = AS_TRAINED, *, source: Path | None = None
    ) -> None:
        """`source` is the folder that the ensemble was loaded from, and None if its members were changed since."""
        self.members = tuple(members)
        self.temperatures = temperatures
        self.source = source

    def __repr__(self) -> str:
        return f"<Ensemble {_name(self.source)} of {len(self.members)} models>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name or folder of the ensemble, or else those of its members, which are then loaded again."""
        if self.source is None:
            return Ensemble, (self.members, self.temperatures)
        return _reopened, (_place(self.source), 1)

    def permuted(self, permutations: int) -> "Ensemble":
        """An ensemble of the same members, each permuted."""
        return Ensemble([member.permuted(permutations) for member in self.members], self.temperatures)

    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions; the members read them one after the other."""
        answers = [member.predict(examples, attention=attention) for member in self.members]
        return [self.temperatures.tempered(mean_prediction(each)) for each in zip(*answers, strict=True)]


def load(model: Path | str = DEFAULT) -> Answering:
    """Load a model or ensemble, by its name in the box, from its folder or an address; each is read once and kept.

    An address such as https://host/model.tar.xz, or any of fsspec's, is downloaded once and kept on disk.
    """
    path = folder(model).resolve()
    try:
        changed = (path / READER_JSON).stat().st_mtime_ns
    except OSError:
        changed = 0
    return _load(path, changed)


@lru_cache(maxsize=16)
def _load(path: Path, changed: int) -> Answering:  # noqa: ARG001
    settings = read_settings(path)
    if "ensemble" in settings:
        readers = [load(member) for member in members(path, settings)]
        with as_model_errors(path):
            return Ensemble(readers, Temperatures.of(settings), source=path)
    stored = read(path)
    return Predictor(_reader(path, stored), stored.collator, stored.temperatures, source=path)


def _place(source: Path) -> Path | str:
    """The name of a model in the box, which other machines have elsewhere, or the folder of any other."""
    return source.name if source.parent == BOX.resolve() else source


def _name(source: Path | None) -> str:
    return "without a folder" if source is None else repr(str(_place(source)))


def _reopened(place: Path | str, permutations: int) -> Answering:
    """Load the model of a pickle."""
    path = BOX / place
    if not (path / READER_JSON).is_file():
        raise ModelError(
            f"{place}: the model that was pickled is not there any more; a pickle holds the folder of a model, not its "
            "weights: put the folder back, or load the model from where it is now and pickle it again"
        )
    model = load(path)
    return model if permutations == 1 else model.permuted(permutations)


def _reader(path: Path, stored: Stored) -> ArrayReader:
    """The reader of a model: in numpy if it is a Gated-Attention Reader, otherwise on torch."""
    if stored.name == GATED_ATTENTION:
        precision = chosen_precision()
        with as_model_errors(path):
            config = from_table(GatedAttentionConfig, stored.settings, "reader")
            letters = len(stored.collator.alphabet)
            return GatedAttentionInNumpy(config, stored.weights, stored.words, letters, precision)
    with extras_told():
        from gareader.trained.model import OnTorch, load  # readers of other papers need torch
    return OnTorch(load(path).reader)


def untrained(config: GatedAttentionConfig | None = None, *, seed: int = 0) -> Predictor:
    """A Gated-Attention Reader with random weights and an empty vocabulary: it runs, but knows nothing."""
    config = config or GatedAttentionConfig()
    alphabet = Alphabet.of(["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    words = np.empty((0, 100), np.float32)
    chance = np.random.default_rng(seed)
    sizes = shapes(config, words.shape[1], len(alphabet))
    weights = {name: chance.normal(0, 0.1, size).astype(np.float32) for name, size in sizes.items()}
    reader = GatedAttentionInNumpy(config, weights, words, len(alphabet))
    return Predictor(reader, Collator(Vocabulary(()), alphabet, width=words.shape[1], seed=seed))
