"""Run the trials of a study in one folder."""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from math import inf
from pathlib import Path

from gareader.core.errors import CorpusError, TrainingError
from gareader.core.whole import written_whole
from gareader.data.examples import Example, Prediction
from gareader.data.store import PreparedCorpus, Watch, prepared_once
from gareader.measuring.baselines import BASELINES, choice
from gareader.measuring.evaluation import evaluate, prediction_record
from gareader.studies.study.plan import Study, Trial
from gareader.studies.study.progress import PROGRESS, Progress, read_progress, write_progress
from gareader.studies.study.results import RESULTS, Result, append_result, read_results
from gareader.trained import model
from gareader.trained.predictor import Predictor
from gareader.training.experiment import Experiment, is_begun
from gareader.training.run import BEST, LAST, STATE, Run


class Studio:
    """A study and the folder of its corpora, runs, predictions and results."""

    def __init__(self, study: Study, folder: Path, watch: Watch = lambda examples, label: examples) -> None:
        self.study = study
        self.folder = folder
        self.watch = watch

    def results(self) -> dict[str, Result]:
        """The results so far of the study's present trials, by their keys."""
        results = read_results(self.folder)
        return {  # row and corpus as the study spells them now: several spellings have the same key
            trial.key: replace(results[trial.key], row=trial.row, corpus=trial.corpus)
            for trial in self.study.trials
            if trial.key in results
        }

    def waiting(self) -> list[Trial]:
        """The trials that lack the result of a split; raise TrainingError if the settings of a result have changed."""
        done = self.results()
        for trial in self.study.trials:
            if trial.key in done and (changed := self.changed(trial, done[trial.key])):
                raise TrainingError(
                    f"{trial.key} was done with other settings than the study has now ({', '.join(changed)}); "
                    f"choose another --out, or {self.to_do_again(trial)}"
                )
        return [trial for trial in self.study.trials if trial.key not in done or self.missing(done[trial.key])]

    def corpora(self, trials: Iterable[Trial]) -> set[str]:
        return {path for trial in trials for key, path in self.study.corpora[trial.corpus].items() if key != "vectors"}

    def files(self, trials: Iterable[Trial]) -> set[str]:
        """The corpora and word vectors of the trials."""
        return self.corpora(trials) | {
            trial.experiment.data.vectors for trial in trials if trial.experiment and trial.experiment.data.vectors
        }

    def changed(self, trial: Trial, result: Result) -> list[str]:
        """The names of settings that differ from those of the result; a setting that it lacks counts as equal."""
        files = self.study.corpora[trial.corpus]
        names = [
            f"corpora.{trial.corpus}.{split}"
            for split, report in result.splits.items()
            if split in files and report.get("file", files[split]) != files[split]
        ]
        if result.baseline not in (None, trial.baseline):
            names.append(f"rows.{trial.row}.baseline")
        if result.settings and trial.experiment:
            names += trial.experiment.changed(Experiment.from_table(result.settings))
        return names

    def missing(self, result: Result) -> list[str]:
        """The splits of the study that the result lacks."""
        return [split for split in self.study.splits(result.corpus) if split not in result.splits]

    def to_do_again(self, trial: Trial) -> str:
        """The advice what to remove so that the trial is run again."""
        run = f" and the folder {self.run_folder(trial)}" if trial.experiment else ""
        return f"remove its line from {self.folder / RESULTS}{run} to do it again"

    def do(self, trial: Trial, train: Callable[[Run], bool]) -> bool:
        """Run or resume a trial and write its result; return False if `train` stopped before the end."""
        result = self.results().get(trial.key) or self.trained(trial, train)
        if result is None:
            return False
        self.conclude(trial, result)
        for file in (STATE, PROGRESS):
            (self.run_folder(trial) / file).unlink(missing_ok=True)
        shutil.rmtree(self.run_folder(trial) / LAST, ignore_errors=True)  # the best model stays
        return True

    def trained(self, trial: Trial, train: Callable[[Run], bool]) -> Result | None:
        """The result of a trial before the model has answered any split; None if `train` stopped."""
        result = Result(trial.key, trial.row, trial.corpus, trial.fraction, trial.seed, {}, None)
        if trial.experiment is None:
            return replace(result, baseline=trial.baseline)
        folder, data = self.run_folder(trial), trial.experiment.data
        data = replace(data, train=self.prepared(data.train), validation=self.prepared(data.validation))
        run = replace(trial.experiment, data=data).run(folder, resume=is_begun(folder))
        run.on_metrics = lambda line: write_progress(folder, Progress(run.progress, run.position.seconds / 60))
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

    def progress(self) -> dict[str, Progress]:
        """How far the trials are that have begun and have no result, by their keys."""
        done = self.results()
        by_trial = {trial.key: read_progress(self.run_folder(trial)) for trial in self.study.trials}
        return {key: progress for key, progress in by_trial.items() if progress and key not in done}

    def conclude(self, trial: Trial, result: Result) -> None:
        """Answer the questions of each missing split, write the predictions, then the result."""
        answer = self.answerer(trial)
        splits = dict(result.splits)
        (self.folder / "predictions").mkdir(parents=True, exist_ok=True)
        for split in self.missing(result):
            file = self.study.corpora[trial.corpus][split]
            examples = PreparedCorpus.open(self.prepared(file))
            predictions = list(answer(self.watch(examples, f"{trial.row}: {trial.corpus}, {split}")))
            report = asdict(evaluate(predictions))
            if not report["examples"]:
                raise CorpusError("no question has a known answer, so there is nothing to measure", Path(file))
            with written_whole(self.predictions(trial.key, split)) as out:
                out.writelines(json.dumps(prediction_record(each), ensure_ascii=False) + "\n" for each in predictions)
            if trial.baseline:  # it gives no probabilities, so it has no loss
                report = {name: report[name] for name in ("examples", "correct", "accuracy", "interval")}
            splits[split] = {"file": file, **report}
        append_result(self.folder, replace(result, splits=splits))

    def answerer(self, trial: Trial) -> Callable[[Iterable[Example]], Iterable[Prediction]]:
        """The function that answers questions: the baseline, or the best model of the run."""
        if trial.baseline:
            return partial(baseline_answers, trial.baseline)
        reader = self.run_folder(trial) / BEST
        if not reader.exists():
            raise TrainingError(f"{reader}: the reader of {trial.key} is gone; {self.to_do_again(trial)}")
        best = model.load(reader)  # not by gareader.load, which would keep it in memory
        return Predictor(model.OnTorch(best.reader), best.collator, best.temperatures).answer_many

    def run_folder(self, trial: Trial) -> Path:
        return self.folder / "runs" / trial.key

    def predictions(self, key: str, split: str) -> Path:
        return self.folder / "predictions" / f"{key}--{split}.jsonl"

    def prepared(self, source: str) -> str:
        """Prepare a corpus once for all trials and return its path, which has a fingerprint of the source's path."""
        fingerprint = sha256(source.encode()).hexdigest()[:8]
        path = self.folder / "corpora" / f"{Path(source).name}--{fingerprint}.arrow"
        return prepared_once(source, path, self.watch)


def baseline_answers(name: str, examples: Iterable[Example]) -> Iterator[Prediction]:
    """Predictions with probability 1 for the candidate that the baseline chooses."""
    for example in examples:
        chosen = choice(example, BASELINES[name](example))
        yield Prediction(example, tuple(0.0 if i == chosen else -inf for i in range(len(example.candidates))))
