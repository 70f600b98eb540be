"""The trials of a study, one after the other, in a folder where everything is kept."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path

from gareader import checkpoint
from gareader.baselines import BASELINES, choice
from gareader.errors import CorpusError, TrainingError
from gareader.evaluation import evaluate, prediction_record
from gareader.examples import Example, Prediction
from gareader.experiment import Experiment
from gareader.predictor import Predictor
from gareader.store import PreparedCorpus, Watch, prepared_once
from gareader.study.plan import Study, Trial
from gareader.study.results import RESULTS, Result, append_result, read_results
from gareader.training import BEST, STATE, Run
from gareader.whole import written_whole


class Studio:
    """A study and the folder of its corpora, runs, predictions and results."""

    def __init__(self, study: Study, folder: Path, watch: Watch = lambda examples, label: examples) -> None:
        self.study = study
        self.folder = folder
        self.watch = watch

    def results(self) -> dict[str, Result]:
        """The results so far of the trials that the study has now, by their keys."""
        found = read_results(self.folder)
        return {
            trial.key: replace(
                found[trial.key], row=trial.row, corpus=trial.corpus
            )  # a name may be written otherwise now
            for trial in self.study.trials
            if trial.key in found
        }

    def waiting(self) -> list[Trial]:
        """The trials that have no result yet, or not of every part; one done otherwise than now is an error."""
        done = self.results()
        for trial in self.study.trials:
            if trial.key in done and (changed := self.changed(trial, done[trial.key])):
                raise TrainingError(
                    f"{trial.key} was done with other settings than the study has now ({', '.join(changed)}); "
                    f"choose another --out, or {self.to_do_again(trial)}"
                )
        return [trial for trial in self.study.trials if trial.key not in done or self.missing(done[trial.key])]

    def absent(self, trials: Iterable[Trial]) -> list[str]:
        """Files of the trials that are not there."""
        named = {file for trial in trials for key, file in self.study.corpora[trial.corpus].items() if key != "vectors"}
        named |= {trial.experiment.data.vectors or "" for trial in trials if trial.experiment}
        return sorted(file for file in named if file and "://" not in file and not Path(file).exists())

    def changed(self, trial: Trial, result: Result) -> list[str]:
        """What is not as it was for the result; what the result does not tell counts as the same."""
        files = self.study.corpora[trial.corpus]
        found = [
            f"corpora.{trial.corpus}.{part}"
            for part, report in result.parts.items()
            if part in files and report.get("file", files[part]) != files[part]
        ]
        if result.baseline not in (None, trial.baseline):
            found.append(f"rows.{trial.row}.baseline")
        if result.settings and trial.experiment:
            found += trial.experiment.changed(Experiment.recorded(result.settings))
        return found

    def missing(self, result: Result) -> list[str]:
        """The parts that the study asks for and the result lacks."""
        return [part for part in self.study.parts(result.corpus) if part not in result.parts]

    def to_do_again(self, trial: Trial) -> str:
        """What has to be removed."""
        run = f" and the folder {self.run_folder(trial)}" if trial.experiment else ""
        return f"remove its line from {self.folder / RESULTS}{run} to do it again"

    def do(self, trial: Trial, train: Callable[[Run], bool]) -> bool:
        """Finish a trial and write its result; False if `train` stopped, which goes on where it was the next time."""
        result = self.results().get(trial.key) or self.trained(trial, train)
        if result is None:
            return False
        self.conclude(trial, result)
        (self.run_folder(trial) / STATE).unlink(missing_ok=True)  # the best reader stays
        return True

    def trained(self, trial: Trial, train: Callable[[Run], bool]) -> Result | None:
        """The result of a trial before it has answered any part; None if `train` stopped."""
        result = Result(trial.key, trial.row, trial.corpus, trial.fraction, trial.seed, {}, None)
        if trial.experiment is None:
            return replace(result, baseline=trial.baseline)
        folder, data = self.run_folder(trial), trial.experiment.data
        data = replace(data, train=self.prepared(data.train), validation=self.prepared(data.validation))
        run = replace(trial.experiment, data=data).run_or_resume(folder)
        if not run.position.finished and not train(run):
            return None
        return replace(
            result,
            settings=trial.experiment.table(),
            parameters=sum(weight.numel() for weight in run.weights.values()),
            updates=run.position.best_step,
            examples=run.position.examples,
            minutes=round(run.position.seconds / 60, 2),
        )

    def conclude(self, trial: Trial, result: Result) -> None:
        """Answer the questions of each part that is missing, write the predictions, then the result."""
        answer = self.answerer(trial)
        parts = dict(result.parts)
        (self.folder / "predictions").mkdir(parents=True, exist_ok=True)
        for part in self.missing(result):
            file = self.study.corpora[trial.corpus][part]
            examples = PreparedCorpus.open(self.prepared(file))
            predictions = list(answer(self.watch(examples, f"{trial.row}: {trial.corpus}, {part}")))
            report = asdict(evaluate(predictions))
            if not report["examples"]:
                raise CorpusError("no question has a known answer, so there is nothing to measure", Path(file))
            with written_whole(self.predictions(trial.key, part)) as out:
                out.writelines(json.dumps(prediction_record(each), ensure_ascii=False) + "\n" for each in predictions)
            if trial.baseline:  # it chooses; it gives no probabilities
                report = {name: report[name] for name in ("examples", "correct", "accuracy", "interval")}
            parts[part] = {"file": file, **report}
        append_result(self.folder, replace(result, parts=parts))

    def answerer(self, trial: Trial) -> Callable[[Iterable[Example]], Iterable[Prediction]]:
        """What answers questions: the baseline, or the reader that was kept."""
        if trial.baseline:
            return partial(baseline_answers, trial.baseline)
        reader = self.run_folder(trial) / BEST
        if not reader.exists():
            raise TrainingError(f"{reader}: the reader of {trial.key} is gone; {self.to_do_again(trial)}")
        found = checkpoint.load(reader)  # not by gareader.load, which would keep it in memory
        return Predictor(found.reader, found.collator, found.temperature).answer_many

    def run_folder(self, trial: Trial) -> Path:
        """Where a trial is trained."""
        return self.folder / "runs" / trial.key

    def predictions(self, key: str, part: str) -> Path:
        """The file of a trial's predictions."""
        return self.folder / "predictions" / f"{key}--{part}.jsonl"

    def prepared(self, given: str) -> str:
        """Where a corpus is that is prepared once for all; its name tells from which path."""
        tag = sha256(given.encode()).hexdigest()[:8]
        path = self.folder / "corpora" / f"{Path(given).name}--{tag}.arrow"
        return prepared_once(given, path, self.watch)


def baseline_answers(name: str, examples: Iterable[Example]) -> Iterator[Prediction]:
    """All the probability for the candidate that a baseline chooses."""
    for example in examples:
        chosen = choice(example, BASELINES[name](example))
        yield Prediction(example, tuple(0.0 if i == chosen else -inf for i in range(len(example.candidates))))
