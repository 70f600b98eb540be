"""Commands that measure readers: evaluate, compare, analyse."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from gareader.cli.app import Format, Json, Modules, SkipBad, Skipped, app, import_modules, percent, watch, with_interval
from gareader.errors import GareaderError
from gareader.whole import check_folder

if TYPE_CHECKING:
    from gareader.distributed import Group


@app.command
def evaluate(
    reader: str,
    *readers_and_corpus: str,
    predictions: Path | None = None,
    results: Path | None = None,
    permutations: Annotated[int, Parameter(validator=Number(gte=1))] = 1,
    format: Format = None,
    skip_bad: SkipBad = False,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Accuracy of a reader on a corpus, with its interval; of several readers, each and their ensemble.

    Example: `gareader evaluate runs/tiny/best configs/tiny/validation.txt --predictions tiny.jsonl --results all.jsonl`

    Parameters
    ----------
    reader
        A reader in the box, or the folder of a trained one.
    readers_and_corpus
        Other readers, if any, then the corpus.
    predictions
        Write every prediction to this file, as JSON lines; with several readers, the ensemble's. With it the corpus
        need not have answers; then nothing is measured, and in JSON the accuracy is null.
    results
        Append what is measured to this file, a JSON line for each reader; `gareader plot compare` draws it.
    permutations
        Average the answers of readers that see candidates as permuted marks over so many permutations.
    """
    import_modules(modules)
    from gareader.distributed import joined

    if not readers_and_corpus:
        raise GareaderError(f"give a corpus after the reader, for example: gareader evaluate {reader} questions.jsonl")
    *others, corpus = readers_and_corpus
    for path in filter(None, (predictions, results)):
        check_folder(path)
    with joined() as group:
        skipped = Skipped(quiet=not group.first)
        reports = measured(
            group,
            [reader, *others],
            corpus,
            predictions,
            permutations,
            format,
            skipped if skip_bad else None,
        )
        for report in reports if group.first else []:
            report["skipped"] = skipped.count
            print(json.dumps(report) if as_json else report_in_words(report))
            if results and report["examples"]:
                with results.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({"corpus": str(corpus), **report}) + "\n")


def measured(
    group: "Group",
    names: list[str],
    corpus: str,
    predictions: Path | None,
    permutations: int,
    format: str | None,
    on_bad: Skipped | None,
) -> list[dict[str, Any]]:
    """A report on each reader, and one on their ensemble; where there are several processes, they share the work."""
    from gareader.evaluation import Tally, answers, prediction_record
    from gareader.examples import mean_prediction
    from gareader.predictor import load
    from gareader.store import read_examples
    from gareader.whole import written_whole

    loaded = [load(name).permuted(permutations) for name in names]
    names += ["ensemble"] * (len(loaded) > 1)
    tallies = [Tally() for _ in names]
    examples = list(read_examples(corpus, format=format, on_bad=on_bad))
    started = monotonic()
    with ExitStack() as stack:
        out = stack.enter_context(written_whole(predictions)) if predictions and group.first else None
        found: Iterator[Any] = zip(*(answers(model, examples, group) for model in loaded), strict=True)
        if group.first:
            so_far = lambda: f", accuracy {percent(tallies[-1].report().accuracy)}"  # noqa: E731
            found = watch(found, f"evaluating on {corpus}", len(examples), so_far)
        for each in found:
            together = [*each, mean_prediction(each)] if len(loaded) > 1 else list(each)
            for tally, prediction in zip(tallies, together, strict=True):
                tally.add(prediction)
            if out:
                out.write(json.dumps(prediction_record(together[-1]), ensure_ascii=False) + "\n")
    without_answer = len(examples) - tallies[0].examples
    if not tallies[0].examples:
        if not (predictions and examples):
            problem = "no question has a known answer, so there is nothing to measure"
            raise GareaderError(f"{corpus}: {problem}; to keep the predictions type: --predictions FILE")
        unmeasured = {"examples": 0, "accuracy": None, "without_answer": without_answer}
        return [{"reader": names[-1], **unmeasured, "predictions": str(predictions)}]
    speed = len(examples) * len(loaded) / (monotonic() - started)
    return [
        {"reader": name, **asdict(tally.report()), "without_answer": without_answer, "examples_per_second": speed}
        for name, tally in zip(names, tallies, strict=True)
    ]


def report_in_words(report: dict[str, Any]) -> str:
    """A report for people."""
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


@app.command
def compare(first: Path, *others: Path, against: float | None = None, as_json: Json = False) -> None:
    """Is the first reader better? Exact one-sided McNemar tests on the same questions, or a test against a number.

    Example: `gareader compare tiny.jsonl --against 90`

    Parameters
    ----------
    first
        Predictions of the reader in question, from `gareader evaluate --predictions`.
    others
        Predictions of other readers on the same questions; several are adjusted by Holm's method.
    against
        A published accuracy in percent, instead of predictions: one-sample proportion test.
    """
    from gareader.comparison import compare_with_number, compare_with_readers, read_outcomes

    if (against is None) == (not others):
        raise GareaderError("give another file of predictions, or a published accuracy with --against")
    if against is not None and 0 < against < 1:
        raise GareaderError(f"--against is in percent; for {against:g} type: --against {100 * against:g}")
    outcomes = read_outcomes(first)
    if against is not None:
        comparisons = [compare_with_number(outcomes, against / 100)]
    else:
        comparisons = compare_with_readers(outcomes, [read_outcomes(path) for path in others])
    for comparison in comparisons:
        if as_json:
            print(json.dumps(asdict(comparison)))
        else:
            print(
                f"{percent(comparison.accuracy)} against {comparison.other} ({percent(comparison.other_accuracy)}): "
                f"p = {comparison.p_value:.4g}, {comparison.test}"
            )


@app.command
def analyse(
    reader: str,
    corpus: str,
    *,
    plot: Path | None = None,
    format: Format = None,
    modules: Modules = (),
    as_json: Json = False,
) -> None:
    """Where a reader is right and where it is wrong: accuracy by kind of question, and how far to believe it.

    Example: `gareader analyse runs/tiny/best configs/tiny/validation.txt`

    Parameters
    ----------
    reader
        A reader in the box, or the folder of a trained one.
    corpus
        Questions whose answers are known.
    plot
        Draw it too: a PNG, SVG or PDF file (needs the extra `plot`).
    """
    import_modules(modules)
    from gareader.analysis import calibration, cross_fitted, fitted_temperature, groups
    from gareader.evaluation import evaluate
    from gareader.plots import analysis_picture, check_picture, save
    from gareader.predictor import load
    from gareader.statistics import describe
    from gareader.store import read_examples

    if plot is not None:
        check_picture(plot)
    examples = list(read_examples(corpus, format=format))
    predictions = list(watch(load(reader).answer_many(examples), f"analysing {corpus}", len(examples)))
    report = evaluate(predictions)
    if not report.examples:
        raise GareaderError(f"{corpus}: no question has a known answer, so there is nothing to analyse")
    baselines = describe(examples)
    try:
        before, after = calibration(predictions), calibration(cross_fitted(predictions))
    except GareaderError as error:
        raise GareaderError(f"{corpus}: {error}") from None
    found = {
        "reader": reader,
        "corpus": Path(corpus).name,
        **asdict(report),
        "most_frequent_accuracy": baselines.most_frequent_accuracy,
        "most_frequent_not_in_query_accuracy": baselines.most_frequent_not_in_query_accuracy,
        "groups": [asdict(group) for group in groups(predictions)],
        "calibration": asdict(before),
        "temperature": fitted_temperature(predictions),
        "calibration_cross_fitted": asdict(after),
    }
    print(json.dumps(found, ensure_ascii=False) if as_json else analysis_in_words(found))
    if plot is not None:
        save(analysis_picture(found), plot)


def analysis_in_words(found: dict[str, Any]) -> str:
    """An analysis for people."""
    from gareader.analysis import TEMPERATURES, at_bound

    lines = [
        f"{found['reader']} on {found['corpus']}: {with_interval(found)} of {found['examples']:,} questions",
        f"Guessing the most frequent candidate: {percent(found['most_frequent_accuracy'])}, "
        f"among those not in the query {percent(found['most_frequent_not_in_query_accuracy'])}",
    ]
    width = max(len(group["name"]) for group in found["groups"])
    aspect = None
    for group in found["groups"]:
        if group["aspect"] != aspect:
            aspect = group["aspect"]
            lines += ["", aspect]
        lines.append(f"  {group['name']:<{width}}  {group['examples']:>7,}  {with_interval(group)}")
    before, after = found["calibration"], found["calibration_cross_fitted"]
    lines += [
        "",
        f"Expected calibration error {percent(before['error'])}, loss {before['loss']:.4f}; with a temperature fitted "
        f"on the other half of the questions {percent(after['error'])}, {after['loss']:.4f}",
        f"The temperature fitted on all questions is {found['temperature']:.3f}"
        + f", at a bound of the search ({TEMPERATURES[0]:g} to {TEMPERATURES[1]:g})" * at_bound(found["temperature"]),
    ]
    return "\n".join(lines)
