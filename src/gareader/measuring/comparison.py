"""Comparison of models by their predictions: with each other on the same questions, or with a published accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gareader.core.errors import CorpusError, GareaderError
from gareader.core.files import LARGEST, open_regular
from gareader.core.parsing import json_object
from gareader.core.significance import holm, mcnemar_test, proportion_test


@dataclass(frozen=True)
class Outcomes:
    """Whether a model answered each question correctly."""

    name: str
    correct: dict[str, bool]
    """By the questions' ids."""

    @property
    def accuracy(self) -> float:
        return sum(self.correct.values()) / len(self.correct)


@dataclass(frozen=True)
class Comparison:
    """The test of one model against another, or against a published accuracy."""

    accuracy: float
    other: str
    other_accuracy: float
    p_value: float
    """One-sided: probability of so large an advantage under the null hypothesis; Holm-adjusted for several tests."""
    test: str
    examples: int


def read_outcomes(path: Path) -> Outcomes:
    """Read a file of predictions: one JSON object per line, with `id` and `correct`."""
    correct: dict[str, bool] = {}
    try:
        with open_regular(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(LARGEST), b""), 1):
                if not line.strip():
                    continue
                row = json_object(line.decode())
                id_, is_correct = str(row["id"]), row["correct"]
                if not isinstance(is_correct, bool):
                    raise CorpusError(
                        "whether the answer is right is not known; evaluate questions with answers", path, number
                    )
                if id_ in correct:
                    raise CorpusError(
                        f"the question {id_!r} is there twice; give each question an id of its own, and evaluate again",
                        path,
                        number,
                    )
                correct[id_] = is_correct
    except (OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"cannot be read: {error}", path) from None
    except KeyError as error:
        raise CorpusError(f"the key {error} is missing; a prediction has id and correct", path, number) from None
    except (ValueError, TypeError) as error:
        problem = f"not a prediction ({error}); make the file with gareader evaluate --predictions"
        raise CorpusError(problem, path, number) from None
    if not correct:
        raise CorpusError("holds no predictions; make them with gareader evaluate --predictions", path)
    return Outcomes(str(path), correct)


def compare_with_number(model: Outcomes, published: float) -> Comparison:
    """One-sample proportion test against a published accuracy."""
    if not 0 < published < 1:
        raise GareaderError(f"a published accuracy is between 0 and 100 %, not {100 * published:g}")
    total = len(model.correct)
    p_value = proportion_test(model.accuracy, total, published)
    name = f"the published {100 * published:g} %"
    return Comparison(model.accuracy, name, published, p_value, "one-sample proportion test, one-sided", total)


def compare_with_models(model: Outcomes, others: Sequence[Outcomes]) -> list[Comparison]:
    """Exact one-sided McNemar tests of one model against others, on the same questions."""
    p_values = []
    for other in others:
        if different := model.correct.keys() ^ other.correct.keys():
            examples = ", ".join(sorted(different)[:3]) + ", …" * (len(different) > 3)
            raise GareaderError(
                f"{model.name} and {other.name} do not hold the same questions: in one only are {len(different):,} "
                f"({examples}); evaluate both models on the same corpus"
            )
        only_first = sum(correct and not other.correct[id_] for id_, correct in model.correct.items())
        only_second = sum(not correct and other.correct[id_] for id_, correct in model.correct.items())
        p_values.append(mcnemar_test(only_first, only_second))
    test = "exact McNemar test, one-sided" + (", Holm-adjusted" if len(others) > 1 else "")
    return [
        Comparison(model.accuracy, other.name, other.accuracy, p_value, test, len(model.correct))
        for other, p_value in zip(others, holm(p_values), strict=True)
    ]
