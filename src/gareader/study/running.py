"""The trials of a study, one after the other, in a folder where everything is kept."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

from gareader.baselines import BASELINES, choice
from gareader.errors import TrainingError
from gareader.evaluation import evaluate, prediction_record
from gareader.examples import Example, Prediction
from gareader.experiment import SETTINGS, Experiment
from gareader.files import written_whole
from gareader.predictor import load
from gareader.store import PreparedCorpus, is_prepared, prepare, read_examples
from gareader.study.plan import PARTS, Study, Trial
from gareader.study.results import Result, append_result, read_results
from gareader.training import BEST, STATE, Run

Watch = Callable[[Iterable[Example], str], Iterable[Example]]


class Studio:
    """A study and the folder of its corpora, runs, predictions and results."""

    def __init__(self, study: Study, folder: Path, watch: Watch = lambda examples, label: examples) -> None:
        self.study = study
        self.folder = folder
        self.watch = watch

    def waiting(self) -> list[Trial]:
        """The trials that have no result yet; one with other settings than now is an error."""
        done = read_results(self.folder)
        for trial in self.study.trials:
            before = done[trial.key].settings if trial.key in done else None
            # read as settings, so that one that did not exist then has its default
            if before is not None and Experiment.from_table(before) != trial.experiment:
                raise TrainingError(
                    f"{trial.key} was done with other settings than the study has now; choose another --out, "
                    f"or remove its line from the results to do it again"
                )
        return [trial for trial in self.study.trials if trial.key not in done]

    def do(self, trial: Trial, train: Callable[[Run], bool]) -> bool:
        """Finish a trial and write its result; False if `train` stopped, which goes on where it was the next time."""
        if trial.experiment is None:
            self.conclude(trial, lambda examples: baseline_answers(trial.baseline or "", examples))
            return True
        folder = self.folder / "runs" / trial.key
        run = self.prepared(trial.experiment, trial.corpus).run(folder, resume=(folder / SETTINGS).exists())
        if not run.position.finished and not train(run):
            return False
        reader = load(folder / BEST)
        self.conclude(
            trial,
            reader.answer_many,
            parameters=sum(weight.numel() for weight in run.weights.values()),
            updates=run.position.best_step,
            minutes=round(run.position.seconds / 60, 2),
        )
        (folder / STATE).unlink(missing_ok=True)  # the best reader stays
        return True

    def conclude(self, trial: Trial, answer: Callable[[Iterable[Example]], Iterable[Prediction]], **facts: Any) -> None:
        """Answer the questions of each part, write the predictions, then the result."""
        parts = {}
        (self.folder / "predictions").mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            if part in self.study.corpora[trial.corpus]:
                examples = self.corpus(trial.corpus, part)
                predictions = list(answer(self.watch(examples, f"{trial.row}: {trial.corpus}, {part}")))
                with written_whole(self.predictions(trial.key, part)) as out:
                    out.writelines(
                        json.dumps(prediction_record(each), ensure_ascii=False) + "\n" for each in predictions
                    )
                parts[part] = asdict(evaluate(predictions))
        settings = trial.experiment.table() if trial.experiment else None
        result = Result(trial.key, trial.row, trial.corpus, trial.fraction, trial.seed, parts, settings, **facts)
        append_result(self.folder, result)

    def predictions(self, key: str, part: str) -> Path:
        """The file of a trial's predictions."""
        return self.folder / "predictions" / f"{key}--{part}.jsonl"

    def prepared(self, experiment: Experiment, corpus: str) -> Experiment:
        """The same run on corpora that are prepared once for all."""
        for part in ("train", "validation"):
            self.corpus(corpus, part)
        train, validation = (str(self.path(corpus, part)) for part in ("train", "validation"))
        return replace(experiment, data=replace(experiment.data, train=train, validation=validation))

    def path(self, corpus: str, part: str) -> Path:
        """Where the prepared corpus is, or shall be."""
        given = Path(self.study.corpora[corpus][part])
        return given if is_prepared(given) else self.folder / "corpora" / f"{corpus}--{part}.arrow"

    def corpus(self, name: str, part: str) -> PreparedCorpus:
        """A part of a corpus, prepared when it is first asked for."""
        path = self.path(name, part)
        if path.exists():
            return PreparedCorpus.open(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        given = self.study.corpora[name][part]
        return prepare(self.watch(read_examples(given), f"preparing {given}"), path)


def baseline_answers(name: str, examples: Iterable[Example]) -> Iterator[Prediction]:
    """All the probability for the candidate that a baseline chooses."""
    for example in examples:
        chosen = choice(example, BASELINES[name](example))
        yield Prediction(example, tuple(0.0 if i == chosen else -inf for i in range(len(example.candidates))))
