"""From words to answers: models that answer questions about new text."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import log
from pathlib import Path

import torch
from torch import nn

from gareader.core.errors import QuestionError
from gareader.data.examples import Attention, Example, Prediction, mean_prediction
from gareader.data.text import question
from gareader.data.vocabulary import Alphabet, Vocabulary
from gareader.nn.batching import BEGIN, END, Collator
from gareader.readers.gated_attention_reader import GatedAttentionConfig, GatedAttentionReader
from gareader.readers.reader import Basis
from gareader.trained.ensembles import members, temperature
from gareader.trained.folder import SETTINGS, read_settings
from gareader.trained.model import load as load_model
from gareader.trained.models import DEFAULT, folder

WINDOW = 64
"""Batches read ahead, so that examples of similar length can share one."""


class Answering(ABC):
    """Answers cloze questions, with one model or several; safe to use from several threads."""

    def answer(self, document: str, query: str, candidates: Iterable[str] | None = None) -> Prediction:
        """The answer to one question in raw text, with the attention that led to it.

        The blank of the query is XXXXX, ___ or @placeholder. Without candidates, the document's names are proposed.
        """
        return self.answer_example(question(document, query, candidates))

    def answer_example(self, example: Example) -> Prediction:
        """The answer to one question, with the attention that led to it."""
        prediction = self.predict([example], attention=True)[0]
        if not prediction.answerable:
            raise QuestionError(
                f"{example.id}: no candidate occurs in the document, so there is nothing to point at; "
                "check the spelling of the candidates, or give others"
            )
        return prediction

    def answer_many(self, examples: Iterable[Example], *, batch_size: int = 32) -> Iterator[Prediction]:
        """The answers to any number of questions, in their order; documents of similar length are read together."""
        stream = iter(examples)
        while window := list(islice(stream, WINDOW * batch_size)):
            order = sorted(range(len(window)), key=lambda i: len(window[i].document))
            answered: dict[int, Prediction] = {}
            for start in range(0, len(order), batch_size):
                members = order[start : start + batch_size]
                answered.update(zip(members, self.predict([window[i] for i in members]), strict=True))
            yield from (answered[i] for i in range(len(window)))

    @abstractmethod
    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions, read as one batch."""

    @abstractmethod
    def permuted(self, permutations: int) -> "Answering":
        """Average the answers of models that read permuted marks over so many permutations."""


class Predictor(Answering):
    """Answers cloze questions with one model."""

    def __init__(
        self, reader: nn.Module, collator: Collator, temperature: float = 1.0, *, permutations: int = 1
    ) -> None:
        """With `permutations`, answers of a reader of permuted marks are averaged over so many."""
        self.reader = reader.eval()
        self.collator = collator
        self.temperature = temperature
        self.permutations = permutations if collator.anonymity == "permuted" else 1

    def permuted(self, permutations: int) -> "Predictor":
        """A predictor with the same reader, whose answers are averaged over so many permutations."""
        return Predictor(self.reader, self.collator, self.temperature, permutations=permutations)

    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions, read as one batch."""
        device = next((weight.device for weight in self.reader.parameters()), torch.device("cpu"))
        with torch.inference_mode():
            output = self.reader(self.collator(examples).to(device), attention=attention)
            draws = range(-1, -self.permutations, -1)
            others = [self.reader(self.collator(examples, draw).to(device)) for draw in draws]
            rows = torch.stack([each.log_probabilities for each in (output, *others)])
            mean = rows.logsumexp(dim=0) - log(self.permutations) if others else rows[0]
        predictions = []
        for b, (example, row) in enumerate(zip(examples, mean.tolist(), strict=True)):
            looks = None
            if output.document_attention is not None:
                query = (BEGIN, *example.query, END)
                D, Q = len(example.document), len(query)
                # a copy: a view would keep the whole batch
                hops = tuple(hop[b, :D, :Q].cpu().numpy().copy() for hop in output.hop_attention)
                looks = Attention(query, hops, output.document_attention[b, :D].cpu().numpy())
            prediction = Prediction(example, tuple(row[: len(example.candidates)]), looks)
            predictions.append(prediction.tempered(self.temperature))
        return predictions


class Ensemble(Answering):
    """Answers with the mean of its members' probabilities, each at its own temperature, then at the ensemble's."""

    def __init__(self, members: Sequence[Answering], temperature: float = 1.0) -> None:
        self.members = tuple(members)
        self.temperature = temperature

    def permuted(self, permutations: int) -> "Ensemble":
        """An ensemble of the same members, each permuted."""
        return Ensemble([member.permuted(permutations) for member in self.members], self.temperature)

    def predict(self, examples: Sequence[Example], *, attention: bool = False) -> list[Prediction]:
        """The answers to a few questions; the members read them one after the other."""
        answers = [member.predict(examples, attention=attention) for member in self.members]
        return [mean_prediction(each).tempered(self.temperature) for each in zip(*answers, strict=True)]


def load(model: Path | str = DEFAULT) -> Answering:
    """Load a model or ensemble, by its name in the box or from its folder; each is read once and kept."""
    path = folder(model).resolve()
    try:
        changed = (path / SETTINGS).stat().st_mtime_ns
    except OSError:
        changed = 0
    return _load(path, changed)


@lru_cache(maxsize=16)
def _load(path: Path, changed: int) -> Answering:  # noqa: ARG001
    settings = read_settings(path)
    if "ensemble" in settings:
        return Ensemble([load(member) for member in members(path, settings)], temperature(path, settings))
    loaded = load_model(path)
    return Predictor(loaded.reader, loaded.collator, loaded.temperature)


def untrained(config: GatedAttentionConfig | None = None, *, seed: int = 0) -> Predictor:
    """A Gated-Attention Reader with random weights and an empty vocabulary: it runs, but knows nothing."""
    alphabet = Alphabet.of(["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    width = 100
    basis = Basis(torch.empty(0, width), len(alphabet), generator=torch.Generator().manual_seed(seed))
    reader = GatedAttentionReader(config or GatedAttentionConfig(), basis)
    return Predictor(reader, Collator(Vocabulary(()), alphabet, width=width, seed=seed))
