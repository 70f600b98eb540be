"""The loop: it learns, it resumes to the bit, and nothing bad is ever written over something good."""

import json
import random
import shutil
import signal
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import synthetic
from forked import FORKS
from gareader.core.distributed import ALONE, Group
from gareader.core.errors import CheckpointError, ConfigError, TrainingError, VectorsError
from gareader.data.arrays import TABLE
from gareader.data.examples import PLACEHOLDER, Example
from gareader.data.store import PreparedCorpus, prepare
from gareader.trained.folder import WORD_TABLE
from gareader.trained.model import OnTorch, load
from gareader.trained.predictor import Predictor
from gareader.training.checkpoint import CHECKSUM, checksum
from gareader.training.experiment import Experiment
from gareader.training.run import BEST, LAST, METRICS, STATE, training_indices
from waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    prepare(synthetic.corpus(640, seed=1), folder / "train.arrow")
    prepare(synthetic.corpus(60, seed=2), folder / "validation.arrow")
    return folder


def experiment(corpus, reader=None, **train):
    return Experiment.from_table(
        {
            "data": {
                "train": str(corpus / "train.arrow"),
                "validation": str(corpus / "validation.arrow"),
                "vector_width": 12,
            },
            "reader": {"hidden": 12, "hops": 2, "dropout": 0.2, **(reader or {})},
            "train": {"learning_rate": 0.01, "max_epochs": 2, "validate_every": 7, "log_every": 4, **train},
        }
    )


def metrics(folder, timing=False):
    lines = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
    return lines if timing else [{k: v for k, v in line.items() if k != "examples_per_second"} for line in lines]


def same_run(one, other):
    """Bit for bit: weights, Adam's moments, metrics, and the best and the last model."""
    for model in (BEST, LAST):
        weights, others = (folder / model / "weights.safetensors" for folder in (one, other))
        assert weights.read_bytes() == others.read_bytes()
    states = []
    for folder in (one, other):
        data = (folder / STATE).read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        position = json.loads(header.pop("__metadata__")["position"])
        states.append(
            (data[8 + size :], header, {k: v for k, v in position.items() if k not in ("seconds", "metrics_bytes")})
        )
    assert states[0] == states[1]
    assert metrics(one) == metrics(other)


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    """The folder of a run that nothing disturbed; each is trained once."""

    @cache
    def run(**train):
        folder = tmp_path_factory.mktemp("whole") / "run"
        experiment(corpus, **train).run(folder).train()
        return folder

    return run


def test_learns_and_stops_after_an_epoch_without_a_new_best(corpus, tmp_path):
    run = experiment(corpus, max_epochs=9).run(tmp_path / "run")
    end = run.train()
    assert end.best_accuracy > 0.95
    assert end.finished
    assert end.epoch < 9
    assert end.best_epoch == end.epoch - 2  # epochs count from 0, and `epoch` is already the next one
    loaded = load(tmp_path / "run" / BEST)
    answers = Predictor(OnTorch(loaded.reader), loaded.collator).answer_many(synthetic.corpus(60, seed=2))
    assert sum(a.correct is True for a in answers) / 60 == end.best_accuracy
    assert loaded.notes["validation"]["accuracy"] == end.best_accuracy


def test_metrics_hold_what_was_measured(corpus, tmp_path):
    experiment(corpus, max_epochs=1).run(tmp_path / "run").train()
    lines = metrics(tmp_path / "run", timing=True)
    updates = [line for line in lines if "loss" in line]
    validations = [line for line in lines if "validation_accuracy" in line]
    assert [line["step"] for line in updates] == [4, 8, 12, 16, 20]
    assert [line["step"] for line in validations] == [7, 14, 20]
    places, timed = "step epoch examples".split(), ["waiting", "examples_per_second"]
    measured = "loss accuracy gradient_norm padding learning_rate".split()
    assert updates[-1].keys() == {*places, *timed, *measured}
    assert updates[0]["examples"] == 4 * 32
    assert updates[0]["learning_rate"] == 0.01
    assert {"validation_loss", "validation_interval", "validation_recall"} < validations[0].keys()


def test_an_average_follows_the_weights_and_is_what_is_kept(corpus, tmp_path):
    run = experiment(corpus, ema=0.9, max_epochs=1).run(tmp_path / "averaged")
    seen = []
    update = run.update

    def watched(*arguments):
        before = {name: weight.detach().clone() for name, weight in run.weights.items()}
        measured = update(*arguments)
        seen.append((before, {name: weight.detach().clone() for name, weight in run.weights.items()}))
        return measured

    run.update = watched
    end = run.train()
    expected = seen[0][0]
    kept = None
    for step, (_, after) in enumerate(seen):
        past = min(0.9, (1 + step) / (10 + step))
        expected = {name: past * value + (1 - past) * after[name] for name, value in expected.items()}
        kept = expected if step + 1 == end.best_step else kept
    for name, value in expected.items():
        torch.testing.assert_close(run.moving_average[name], value)
        assert torch.equal(run.weights[name], seen[-1][1][name])  # validating has given the weights back
    best = load(tmp_path / "averaged" / BEST).reader.state_dict()
    assert kept is not None
    for name, value in kept.items():
        torch.testing.assert_close(best[name], value)
    plain = experiment(corpus, max_epochs=1).run(tmp_path / "plain")
    plain.train()
    assert all(torch.equal(plain.weights[name], weight) for name, weight in run.weights.items())
    measured = [line for line in metrics(tmp_path / "averaged") if "plain_validation_accuracy" in line]
    without = [line for line in metrics(tmp_path / "plain") if "validation_accuracy" in line]
    assert [m["plain_validation_accuracy"] for m in measured] == [w["validation_accuracy"] for w in without]


@pytest.mark.parametrize("ema", [None, 0.9])
def test_the_model_of_the_last_update_is_kept_beside_the_best(corpus, tmp_path, ema):
    run = experiment(corpus, ema=ema, max_epochs=9).run(tmp_path / "run")
    run.train(lambda: run.position.epoch == 1)
    assert not (tmp_path / "run" / LAST).exists()  # the run has not ended
    end = run.train()
    assert end.best_step < end.step  # patience has ended the run, so the last model is not the best
    last = load(tmp_path / "run" / LAST)
    weights = last.reader.state_dict()
    for name, value in (run.moving_average or run.weights).items():
        assert torch.equal(weights[name], value)
    answers = Predictor(OnTorch(last.reader), last.collator).answer_many(synthetic.corpus(60, seed=2))
    assert sum(answer.correct is True for answer in answers) / 60 == last.notes["validation"]["accuracy"]
    assert last.notes["trained"] == asdict(end)
    assert load(tmp_path / "run" / BEST).notes["trained"]["step"] == end.best_step


def test_a_run_with_decay_ends_at_a_small_learning_rate(corpus, tmp_path):
    experiment(corpus, anneal=True, max_epochs=1, log_every=1).run(tmp_path / "run").train()
    rates = [line["learning_rate"] for line in metrics(tmp_path / "run") if "loss" in line]
    half = len(rates) // 2
    assert set(rates[: half + 1]) == {0.01}
    assert rates[half:] == sorted(set(rates[half:]), reverse=True)
    assert rates[-1] == pytest.approx(2 * 0.01 / len(rates))


def test_a_time_budget_ends_the_run_with_a_reader(corpus, tmp_path):
    run = experiment(corpus, max_minutes=1e-6).run(tmp_path / "run")
    end = run.train()
    assert (end.step, end.finished) == (1, True)
    assert load(tmp_path / "run" / BEST).notes["trained"]["step"] == 1


@pytest.mark.parametrize("ema", [None, 0.9])
@pytest.mark.parametrize("stops", [[1], [3, 7], [7, 8, 20, 21], [19]])
def test_stopped_and_resumed_is_the_same_to_the_bit(corpus, whole, tmp_path, stops, ema):
    settings, parts = experiment(corpus, ema=ema), tmp_path / "parts"
    for number, step in enumerate(stops):
        run = settings.run(parts, resume=number > 0)
        assert run.train(lambda run=run, step=step: run.position.step >= step).step == step
    settings.run(parts, resume=True).train()
    same_run(whole(ema=ema), parts)


def train_and_tell(corpus, folder, resume, pipe):
    """What a child process does."""
    torch.set_num_threads(1)
    run = experiment(corpus).run(folder, resume=resume)
    run.on_metrics = lambda line: pipe.send("line")
    run.train()
    pipe.send("done")


@contextmanager
def child(corpus, folder, resume):
    """The process, and the pipe it tells its progress by."""
    ours, theirs = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=train_and_tell, args=(corpus, folder, resume, theirs))
    process.start()
    theirs.close()
    yield process, ours
    process.join()


def told(pipe):
    """The next thing that a child says, or nothing if it has ended."""
    try:
        return pipe.recv()
    except EOFError:
        return ""


def test_killed_and_resumed_is_the_same_to_the_bit(corpus, whole, tmp_path):
    killed = tmp_path / "killed"
    resume, kills = False, 0
    for lines, saved in ((1, False), (3, True), (2, False), (5, True)):  # when the kill falls, at no chosen moment
        with child(corpus, killed, resume) as (process, pipe):
            for _ in range(lines):
                told(pipe)
            if saved:  # not before another state is
                before = state_of(killed)
                wait_until(lambda before=before: state_of(killed) != before or not process.is_alive())
            process.kill()
        kills += process.exitcode == -signal.SIGKILL
        resume = True
    assert kills >= 2
    with child(corpus, killed, resume=True) as (_, pipe):
        assert [*iter(lambda: told(pipe), "")][-1] == "done"
    same_run(whole(ema=None), killed)


def state_of(folder):
    """Which of its states a run has saved last; another one is another file."""
    file = folder / STATE
    return (file.stat().st_ino, file.stat().st_mtime_ns) if file.exists() else None


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def test_a_torn_state_beside_the_good_one_changes_nothing(corpus, whole, tmp_path):
    settings, torn = experiment(corpus), tmp_path / "torn"
    run = settings.run(torn)
    run.train(lambda: run.position.step >= 9)
    good = (torn / STATE).read_bytes()
    (torn / f".{STATE}.new").write_bytes(good[: len(good) // 2])
    append(torn / METRICS, b'{"step": 99, "half a li')
    settings.run(torn, resume=True).train()
    same_run(whole(ema=None), torn)


def test_metrics_that_a_power_cut_has_shortened(corpus, tmp_path):
    settings = experiment(corpus)
    run = settings.run(tmp_path)
    run.train(lambda: run.position.step >= 9)
    lines = (tmp_path / METRICS).read_bytes().splitlines(keepends=True)
    (tmp_path / METRICS).write_bytes(b"".join(lines[:-1]))
    settings.run(tmp_path, resume=True).train()
    assert [line["step"] for line in metrics(tmp_path) if "loss" in line][:3] == [4, 12, 16]


def test_a_full_disk_leaves_the_last_good_state(corpus, tmp_path, monkeypatch):
    settings = experiment(corpus)
    run = settings.run(tmp_path / "run")
    run.train(lambda: run.position.step >= 9)
    before = (tmp_path / "run" / STATE).read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gareader.training.checkpoint.save_file", full)
    with pytest.raises(CheckpointError, match=r"No space left on device.*the one before is still there"):
        run.train()
    monkeypatch.undo()
    assert (tmp_path / "run" / STATE).read_bytes() == before
    assert settings.run(tmp_path / "run", resume=True).train().finished


def test_a_loss_that_is_no_number_stops_with_the_examples(corpus, tmp_path):
    run = experiment(corpus).run(tmp_path / "run")
    run.train(lambda: run.position.step >= 9)
    before = {name: (tmp_path / "run" / name).read_bytes() for name in (STATE, METRICS)}
    with torch.no_grad():
        run.reader.document_grus[0].bias[0, 0, 0, 0] = torch.nan
    with pytest.raises(TrainingError, match=r"the loss is nan .* nothing was overwritten.*: \d+, \d+"):
        run.train()
    assert before == {name: (tmp_path / "run" / name).read_bytes() for name in (STATE, METRICS)}


def test_examples_without_their_answer_are_left_out_and_counted(corpus, tmp_path):
    good = synthetic.corpus(3, seed=0)
    lost = Example("lost", ("x", "y"), (PLACEHOLDER,), (("Ann",), ("x",)), 0)
    unknown = replace(good[0], answer=None)
    some, none = ([good[0], lost, good[1], unknown, good[2]], [lost])
    for name, examples in (("some", some), ("none", none)):
        prepare(examples, tmp_path / name)
    settings = experiment(corpus)
    run = replace(settings, data=replace(settings.data, train=str(tmp_path / "some"))).run(tmp_path / "run")
    assert list(run.training) == good
    assert run.model.notes["left_out"] == 2
    with pytest.raises(TrainingError, match="no training question has its answer"):
        replace(settings, data=replace(settings.data, train=str(tmp_path / "none"))).run(tmp_path / "other")


@pytest.mark.parametrize("optimiser", ["sgd", "rmsprop", "adadelta"])
def test_any_optimiser_resumes_to_the_bit(corpus, tmp_path, optimiser):
    settings = {"optimiser": optimiser, "momentum": 0.9 if optimiser == "rmsprop" else 0.0, "max_epochs": 1}
    experiment(corpus, **settings).run(tmp_path / "whole").train()
    steps = iter([False] * 8 + [True])
    experiment(corpus, **settings).run(tmp_path / "broken").train(lambda: next(steps))
    experiment(corpus, **settings).run(tmp_path / "broken", resume=True).train()
    same_run(tmp_path / "whole", tmp_path / "broken")


@pytest.mark.parametrize("optimiser", ["adam", "sgd", "rmsprop", "adadelta"])
def test_trained_word_vectors_resume_to_the_bit_while_rows_wait(corpus, tmp_path, monkeypatch, optimiser):
    monkeypatch.setattr("gareader.training.optimiser.PERIOD", 5)
    settings = experiment(
        corpus, {"update_words": True}, optimiser=optimiser, momentum=0.9 * (optimiser == "rmsprop"), batch_size=1
    )
    whole = settings.run(tmp_path / "whole")
    whole.train(lambda: whole.position.step >= 22)
    for number, step in enumerate([11, 16, 22]):
        run = settings.run(tmp_path / "parts", resume=number > 0)
        run.train(lambda run=run, step=step: run.position.step >= step)
        assert (run.optimiser.tables[TABLE].row_step < step).any()
    one, other = (load_file(tmp_path / name / STATE) for name in ("whole", "parts"))
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def test_the_saved_word_vectors_are_up_to_date(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("gareader.training.optimiser.PERIOD", 5)
    run = experiment(corpus, {"update_words": True}, batch_size=4, max_epochs=1, validate_every=1000).run(tmp_path)
    run.train()
    assert (run.optimiser.tables[TABLE].row_step == run.position.step).all()
    assert torch.equal(load_file(tmp_path / LAST / WORD_TABLE)[TABLE], run.weights[TABLE])


def test_a_run_whose_state_is_gone_does_not_begin_anew(corpus, tmp_path):
    settings = experiment(corpus, max_epochs=1)
    settings.run(tmp_path / "run").train()
    before = (tmp_path / "run" / METRICS).read_bytes()
    (tmp_path / "run" / STATE).unlink()
    with pytest.raises(CheckpointError, match="the state is gone"):
        settings.run(tmp_path / "run", resume=True)
    assert (tmp_path / "run" / METRICS).read_bytes() == before


def test_a_run_killed_before_its_first_line_begins_anew(corpus, whole, tmp_path):
    settings = experiment(corpus, max_epochs=1)
    run = settings.run(tmp_path / "killed")
    run.save_state()
    append(tmp_path / "killed" / METRICS, b"half a li")
    settings.run(tmp_path / "killed", resume=True).train()
    same_run(whole(max_epochs=1), tmp_path / "killed")


@pytest.mark.parametrize("change", ["questions", "answers", "vectors"])
def test_a_run_is_not_resumed_with_other_questions_or_vectors(corpus, tmp_path, change):
    for name in ("train.arrow", "validation.arrow"):
        shutil.copy(corpus / name, tmp_path / name)
    (tmp_path / "vectors.txt").write_text("has " + "0.5 " * 12 + "\n")
    settings = experiment(tmp_path)
    settings = replace(settings, data=replace(settings.data, vectors=str(tmp_path / "vectors.txt")))
    run = settings.run(tmp_path / "run")
    run.train(lambda: run.position.step >= 3)
    if change == "questions":
        prepare(synthetic.corpus(600, seed=3), tmp_path / "train.arrow")
    elif change == "answers":
        before = list(PreparedCorpus.open(tmp_path / "train.arrow"))
        others = (replace(each, answer=((each.answer or 0) + 1) % len(each.candidates)) for each in before)
        prepare(others, tmp_path / "train.arrow")
    else:
        (tmp_path / "vectors.txt").write_text("has " + "0.25 " * 12 + "\n")
    with pytest.raises(CheckpointError, match="the questions or the word vectors are others than before"):
        settings.run(tmp_path / "run", resume=True)


def rewritten(folder, change):
    """Write the state of a run again after a change of its tensors and metadata, with the right checksum."""
    with safe_open(folder / STATE, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del metadata[CHECKSUM]
    change(tensors, metadata)
    save_file(tensors, folder / STATE, metadata | {CHECKSUM: checksum(tensors, metadata)})


@pytest.fixture
def stopped(corpus, tmp_path):
    """A run that was stopped after its first validation."""
    run = experiment(corpus, validate_every=2).run(tmp_path / "run")
    run.train(lambda: run.position.step >= 3)
    return tmp_path / "run"


def test_any_byte_of_the_state_that_changes_is_told_or_without_effect(corpus, stopped):
    settings = experiment(corpus, validate_every=2)
    run = settings.run(stopped, resume=True)
    before, position, window = {name: value.clone() for name, value in run.state().items()}, run.position, run.window
    whole, chance = (stopped / STATE).read_bytes(), random.Random(3)
    places = [*chance.sample(range(len(whole)), 60), *chance.sample(range(3000), 60)]
    for place in places:
        byte = bytes([whole[place] ^ 1 << chance.randrange(8)])
        (stopped / STATE).write_bytes(whole[:place] + byte + whole[place + 1 :])
        try:
            run.load_state()
        except CheckpointError:
            continue
        assert (run.position, run.window) == (position, window), place
        assert all(torch.equal(value, before[name]) for name, value in run.state().items()), place


@pytest.mark.parametrize(
    "metadata",
    [
        {"position": "[" * 100_000},
        {"position": "null"},
        {"position": '{"step": "3"}'},
        {"position": '{"metrics_bytes": -5}'},
        {"position": '{"step": ' + "1" * 5000 + "}"},
        {"position": '{"colour": 1}'},
        {"window": "{}"},
        {"window": "[1]"},
        {"window": '[{"loss": "x"}]'},
    ],
)
def test_a_state_that_says_something_else(corpus, stopped, metadata):
    rewritten(stopped, lambda tensors, before: before.update(metadata))
    with pytest.raises(CheckpointError, match="this state does not fit the run"):
        experiment(corpus, validate_every=2).run(stopped, resume=True)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_state_with_a_weight_that_is_not_finite(corpus, stopped, value):
    def change(tensors, metadata):
        next(iter(tensors.values())).view(-1)[0] = value

    rewritten(stopped, change)
    with pytest.raises(CheckpointError, match="it has numbers that are not finite"):
        experiment(corpus, validate_every=2).run(stopped, resume=True)


def test_a_best_model_that_is_gone_is_told_and_another_is_kept(corpus, stopped):
    shutil.rmtree(stopped / BEST)
    with pytest.warns(
        UserWarning, match=r"best: the best model so far \(accuracy .*, update 2\) is gone; the best from"
    ):
        run = experiment(corpus, validate_every=2).run(stopped, resume=True)
    assert (run.position.best_step, run.best_is_gone) == (0, False)
    run.train(lambda: run.position.step >= 5)
    assert load(stopped / BEST).notes["trained"]["step"] == 4
    shutil.rmtree(stopped / BEST)
    assert run.best_is_gone


def test_validation_questions_without_answers_are_refused(corpus, tmp_path):
    prepare((replace(each, answer=None) for each in synthetic.corpus(9, seed=2)), tmp_path / "validation.arrow")
    shutil.copy(corpus / "train.arrow", tmp_path / "train.arrow")
    with pytest.raises(TrainingError, match=r"validation\.arrow: no validation question has its answer"):
        experiment(tmp_path).run(tmp_path / "run")


def test_vectors_of_another_width_are_told_before_anything_is_prepared(corpus, tmp_path, monkeypatch):
    (tmp_path / "vectors.txt").write_text("has 1 2 3\n")
    settings = experiment(corpus)
    settings = replace(settings, data=replace(settings.data, vectors=str(tmp_path / "vectors.txt")))
    monkeypatch.setattr(Experiment, "corpus", lambda *arguments: pytest.fail("prepared"))
    with pytest.raises(VectorsError, match="its vectors have 3 numbers, not 12"):
        settings.run(tmp_path / "run")


def test_patience(corpus, tmp_path):
    run = experiment(corpus, max_epochs=9, patience=2, learning_rate=1e-9).run(tmp_path / "run")
    end = run.train()
    assert end.epoch - 1 - end.best_epoch == 2


def test_a_fraction_is_chosen_by_the_seed():
    answerable = np.ones(40, bool)
    first, again, other = (training_indices(answerable, 0.5, seed).tolist() for seed in (1, 1, 2))
    assert len(first) == 20
    assert first == again != other


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"fraction": 0}, "train.fraction = 0.0 is too small; use more than 0 and at most 1"),
        ({"ema": 1.0}, "train.ema = 1.0 is too large; use more than 0 and less than 1"),
        ({"batch_size": 0}, "train.batch_size = 0 is too small"),
        ({"learning_rate": -1.0}, "train.learning_rate = -1.0 is too small; use more than 0"),
        ({"max_minutes": 0}, "train.max_minutes = 0.0 is too small; use more than 0"),
    ],
)
def test_impossible_settings(corpus, setting, message):
    with pytest.raises(ConfigError) as error:
        experiment(corpus, **setting)
    assert message in str(error.value)


def test_a_run_is_not_overwritten_nor_resumed_with_other_settings(corpus, tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(TrainingError, match="there is no run to resume here"):
        experiment(corpus).run(folder, resume=True)
    experiment(corpus).run(folder)
    with pytest.raises(TrainingError, match="there is a run already; go on with --resume"):
        experiment(corpus).run(folder)
    with pytest.raises(TrainingError, match=r"other settings \(reader.hidden, train.seed\)"):
        experiment(corpus, {"hidden": 8}, seed=5).run(folder, resume=True)


class WithAnother(Group):
    """A second process with other settings."""

    def all_gather(self, thing):
        return [thing, thing.replace('"seed": 1', '"seed": 2')]


def test_processes_with_other_settings_than_each_other(corpus, tmp_path):
    prepared = PreparedCorpus.open(corpus / "train.arrow")
    experiment(corpus).questions_fingerprint(tmp_path, prepared, prepared, ALONE)
    with pytest.raises(TrainingError, match="the processes have other settings or other questions"):
        experiment(corpus).questions_fingerprint(tmp_path, prepared, prepared, WithAnother())


def test_settings_survive_the_table(corpus):
    settings = experiment(corpus, max_minutes=3.0)
    assert Experiment.from_table(settings.table()) == settings
    assert asdict(settings.data)["vectors"] is None
