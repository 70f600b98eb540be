"""Commands that measure models: evaluate, compare, analyse."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from gareader.cli.app import (
    AtLeastOne,
    Format,
    Json,
    Modules,
    SkipBad,
    Skipped,
    import_modules,
    model_folder,
    percent,
    read_with_answers,
    watch,
    with_interval,
)
from gareader.core.distributed import Group, joined
from gareader.core.errors import GareaderError
from gareader.core.whole import check_folder, written_whole
from gareader.data.examples import Example, Prediction, mean_prediction
from gareader.data.sources import read_examples
from gareader.data.statistics import describe
from gareader.measuring.analysis import TEMPERATURES, at_bound, calibration, cross_fitted, fitted_temperature, groups
from gareader.measuring.comparison import compare_with_models, compare_with_number, read_outcomes
from gareader.measuring.evaluation import Tally, answers, prediction_record
from gareader.measuring.evaluation import evaluate as report_on
from gareader.plots.analysis import analysis_picture
from gareader.plots.figures import check_picture, save
from gareader.trained.predictor import Answering, load


def evaluate(
    model: str,
    *models_and_corpus: str,
    predictions: Path | None = None,
    results: Path | None = None,
    permutations: AtLeastOne = 1,
    format: Format = None,
    skip_bad: SkipBad = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Accuracy of a model on a corpus, with its interval; of several models, that of each and of their ensemble.

    Example: `gareader evaluate runs/tiny/best configs/tiny/validation.txt --predictions tiny.jsonl --results all.jsonl`

    Parameters
    ----------
    model
        A model in the box, or the folder of a trained one.
    models_and_corpus
        Other models, if any, then the corpus.
    predictions
        Write every prediction to this file, as JSON lines; with several models, the ensemble's. With it the corpus
        need not have answers; then nothing is measured, and in JSON the accuracy is null.
    results
        Append the results to this file, a JSON line for each model; `gareader plot compare` draws it.
    permutations
        Average the answers of models that read candidates as permuted marks over so many permutations.
    """
    if not models_and_corpus:
        raise GareaderError(f"give a corpus after the model, for example: gareader evaluate {model} questions.jsonl")
    *others, corpus = models_and_corpus
    for path in filter(None, (predictions, results)):
        check_folder(path)
    with joined() as group:
        skipped = Skipped(quiet=not group.first)
        names = [model, *others]
        folders = [model_folder(name) for name in names]
        examples = list(read_examples(corpus, format=format, on_bad=skipped if skip_bad else None))
        import_modules(modules)
        loaded = [load(folder).permuted(permutations) for folder in folders]
        reports = measure(group, names, loaded, examples, corpus, predictions)
        for report in reports if group.first else []:
            report["skipped"] = skipped.count
            print(json.dumps(report) if as_json else report_in_words(report))
            if results and report["examples"]:
                with results.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"corpus": str(corpus), **report}) + "\n")


def measure(
    group: Group, names: list[str], loaded: list[Answering], examples: list[Example], corpus: str, out: Path | None
) -> list[dict[str, Any]]:
    """A report on each model, and one on their ensemble, whose predictions are written if there is a file for them."""
    names += ["ensemble"] * (len(loaded) > 1)
    tallies = [Tally() for _ in names]
    started = monotonic()
    with ExitStack() as stack:
        lines = stack.enter_context(written_whole(out)) if out and group.first else None
        rows: Iterator[tuple[Prediction, ...]] = zip(
            *(answers(model, examples, group) for model in loaded), strict=True
        )
        if group.first:
            so_far = lambda: f", accuracy {percent(tallies[-1].report().accuracy)}"  # noqa: E731
            rows = watch(rows, f"evaluating on {corpus}", len(examples), so_far)
        for row in rows:
            together = [*row, mean_prediction(row)] if len(loaded) > 1 else list(row)
            for tally, prediction in zip(tallies, together, strict=True):
                tally.add(prediction)
            if lines:
                lines.write(json.dumps(prediction_record(together[-1]), ensure_ascii=False) + "\n")
    without_answer = len(examples) - tallies[0].examples
    if not tallies[0].examples:
        if not (out and examples):
            problem = "no question has a known answer, so there is nothing to measure"
            raise GareaderError(f"{corpus}: {problem}; to keep the predictions type: --predictions FILE")
        unmeasured = {"examples": 0, "accuracy": None, "without_answer": without_answer}
        return [{"reader": names[-1], **unmeasured, "predictions": str(out)}]
    speed = len(examples) * len(loaded) / (monotonic() - started)
    return [
        {"reader": name, **asdict(tally.report()), "without_answer": without_answer, "examples_per_second": speed}
        for name, tally in zip(names, tallies, strict=True)
    ]


def report_in_words(report: dict[str, Any]) -> str:
    if not report["examples"]:
        written = f"predictions for {report['without_answer']:,} questions in {report['predictions']}"
        return f"{report['reader']}: {written}; no answer is known, so nothing is measured"
    loss = "–" if report["loss"] is None else f"{report['loss']:.4f}"
    recall = ", ".join(f"@{k} {percent(share)}" for k, share in report["recall"].items())
    lines = [
        f"{report['reader']}: {with_interval(report)} of {report['examples']:,} questions",
        f"  loss {loss}   recall {recall}   {report['examples_per_second']:.1f} examples/s",
    ]
    if count := report["without_answer"]:
        lines.append(f"  not counted: {count:,} without a known answer")
    if report["answer_not_in_document"]:
        lines.append(
            f"  {report['answer_not_in_document']:,} answers are not in their document; "
            f"{report['no_candidate_in_document']:,} questions have no candidate there"
        )
    return "\n".join(lines)


def compare(first: Path, *others: Path, against: float | None = None, as_json: Json = False) -> None:
    """Is the first model better? Exact one-sided McNemar tests on the same questions, or a test against a number.

    Example: `gareader compare tiny.jsonl --against 90`

    Parameters
    ----------
    first
        Predictions of the first model, from `gareader evaluate --predictions`.
    others
        Predictions of other models on the same questions; several are adjusted by Holm's method.
    against
        A published accuracy in percent, instead of predictions: one-sample proportion test.
    """
    if (against is None) == (not others):
        raise GareaderError("give another file of predictions, or a published accuracy with --against")
    if against is not None and 0 < against < 1:
        raise GareaderError(f"--against is in percent; for {against:g} type: --against {100 * against:g}")

    outcomes = read_outcomes(first)
    if against is not None:
        comparisons = [compare_with_number(outcomes, against / 100)]
    else:
        comparisons = compare_with_models(outcomes, [read_outcomes(path) for path in others])
    for comparison in comparisons:
        if as_json:
            print(json.dumps(asdict(comparison)))
        else:
            print(
                f"{percent(comparison.accuracy)} against {comparison.other} ({percent(comparison.other_accuracy)}): "
                f"p = {comparison.p_value:.4g}, {comparison.test}"
            )


def analyse(
    model: str,
    corpus: str,
    *,
    plot: Path | None = None,
    format: Format = None,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Where a model is right and where it is wrong: accuracy by kind of question, and its calibration.

    Example: `gareader analyse runs/tiny/best configs/tiny/validation.txt`

    Parameters
    ----------
    model
        A model in the box, or the folder of a trained one.
    corpus
        Questions whose answers are known.
    plot
        Draw it too: a PNG, SVG or PDF file (needs the extra `plot`).
    """
    if plot is not None:
        check_picture(plot)
    folder, examples = model_folder(model), read_with_answers(corpus, format)
    import_modules(modules)

    predictions = list(watch(load(folder).answer_many(examples), f"analysing {corpus}", len(examples)))
    baselines = describe(examples)
    try:
        before, after = calibration(predictions), calibration(cross_fitted(predictions))
    except GareaderError as error:
        raise GareaderError(f"{corpus}: {error}") from None
    analysis = {
        "reader": model,
        "corpus": Path(corpus).name,
        **asdict(report_on(predictions)),
        "most_frequent_accuracy": baselines.most_frequent_accuracy,
        "most_frequent_not_in_query_accuracy": baselines.most_frequent_not_in_query_accuracy,
        "groups": [asdict(group) for group in groups(predictions)],
        "calibration": asdict(before),
        "temperature": fitted_temperature(predictions),
        "calibration_cross_fitted": asdict(after),
    }
    print(json.dumps(analysis, ensure_ascii=False) if as_json else analysis_in_words(analysis))
    if plot is not None:
        save(analysis_picture(analysis), plot)


def analysis_in_words(analysis: dict[str, Any]) -> str:
    lines = [
        f"{analysis['reader']} on {analysis['corpus']}: {with_interval(analysis)} "
        f"of {analysis['examples']:,} questions",
        f"Guessing the most frequent candidate: {percent(analysis['most_frequent_accuracy'])}, "
        f"among those not in the query {percent(analysis['most_frequent_not_in_query_accuracy'])}",
    ]
    width = max(len(group["name"]) for group in analysis["groups"])
    aspect = None
    for group in analysis["groups"]:
        if group["aspect"] != aspect:
            aspect = group["aspect"]
            lines += ["", aspect]
        lines.append(f"  {group['name']:<{width}}  {group['examples']:>7,}  {with_interval(group)}")
    before, after = analysis["calibration"], analysis["calibration_cross_fitted"]
    lines += [
        "",
        f"Expected calibration error {percent(before['error'])}, loss {before['loss']:.4f}; with a temperature fitted "
        f"on the other half of the questions {percent(after['error'])}, {after['loss']:.4f}",
        f"The temperature fitted on all questions is {analysis['temperature']:.3f}"
        + f", at a bound of the search ({TEMPERATURES[0]:g} to {TEMPERATURES[1]:g})"
        * at_bound(analysis["temperature"]),
    ]
    return "\n".join(lines)
