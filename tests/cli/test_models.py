"""`gareader models`, `pack` and `analyse`, and models called by their name."""

import json
import shutil
import warnings
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

import synthetic
from gareader.cli.evaluate import analysis_in_words
from gareader.cli.models import overview
from gareader.data.corpora import jsonl
from gareader.data.store import prepare
from gareader.trained import models
from gareader.trained.folder import read_settings
from gareader.trained.predictor import Predictor, load
from gareader.trained.temperatures import Temperatures
from gareader.training.experiment import Experiment
from gareader.training.run import BEST

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a reader and a corpus."""
    folder = tmp_path_factory.mktemp("trained")
    prepare(synthetic.corpus(320, seed=1), folder / "train.arrow")
    prepare(synthetic.corpus(60, seed=2), folder / "validation.arrow")
    table = {
        "data": {"train": f"{folder}/train.arrow", "validation": f"{folder}/validation.arrow", "vector_width": 12},
        "reader": {"hidden": 12, "hops": 2, "dropout": 0.0, "characters": False},
        "train": {"learning_rate": 0.02, "max_epochs": 3, "threads": 1},
    }
    Experiment.from_table(table).run(folder / "run").train()
    return folder


@pytest.fixture
def box(tmp_path, monkeypatch):
    """An empty box."""
    monkeypatch.setattr(models, "BOX", tmp_path / "box")
    (tmp_path / "box").mkdir()
    return tmp_path / "box"


def test_a_reader_is_packed_measured_and_found_by_its_name(trained, gareader, box):
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    code, out, err = gareader("pack", reader, "--out", box / "people", "--measure", corpus, "--about", "who has what")
    assert (code, err) == (0, "")
    accuracy = json.loads(gareader("evaluate", box / "people", corpus, "--json")[1])["accuracy"]
    assert f"{accuracy:.1%}" in out
    assert "of 60 questions of validation.arrow after packing, temperature 1.000" in out

    assert gareader("models")[1].split("\n")[1].split()[:4] == ["people", "who", "has", "what"]
    (listed,) = map(json.loads, gareader("models", "--json")[1].splitlines())
    assert (listed["name"], listed["about"], listed["reader"]) == ("people", "who has what", "gated-attention")
    assert listed["measured"]["accuracy"] == accuracy
    assert listed["bytes"] == sum(file.stat().st_size for file in (box / "people").iterdir())
    assert str(trained) not in json.dumps(listed)
    by_name = gareader("evaluate", "people", corpus)
    assert by_name[0] == 0
    assert f"people: {accuracy:.1%}" in by_name[1]


def test_the_card_is_shown_where_there_is_one(trained, gareader, box):
    gareader("pack", trained / "run" / BEST, "--out", box / "people", "--measure", trained / "validation.arrow")
    assert json.loads(gareader("models", "people")[1])["name"] == "people"
    (box / "people.md").write_text("# People\n", encoding="utf-8")
    assert gareader("models", "people")[1] == "# People\n"


def test_the_whole_name_of_a_corpus_is_shown_in_a_narrow_window():
    name = "a_corpus_of_a_very_long_name_2000ex.txt.xz"
    measured = {"corpus": name, "examples": 2000, "accuracy": 0.7, "interval": (0.6, 0.8)}
    output = StringIO()
    console = Console(width=80, file=output)
    console.print(
        overview([{"name": "stories", "about": "names in children's books", "bytes": 1e7, "measured": measured}])
    )
    heading, *rows = output.getvalue().splitlines()
    start, end = heading.index("measured on"), heading.index("size")
    assert "".join(row[start:end].strip() for row in rows) == f"{name} (2,000)"


def test_calibrating_keeps_a_temperature_and_the_ranking(trained, gareader, tmp_path):
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    gareader("pack", reader, "--out", tmp_path / "plain", "--measure", corpus)
    code, out, _ = gareader("pack", reader, "--out", tmp_path / "fitted", "--measure", corpus, "--calibrate", "--json")
    assert code == 0
    plain, fitted = load(tmp_path / "plain"), load(tmp_path / "fitted")
    assert isinstance(plain, Predictor)
    assert isinstance(fitted, Predictor)
    assert plain.temperatures.given == 1.0 != fitted.temperatures.given
    examples = synthetic.corpus(10, seed=9)
    for one, other in zip(plain.predict(examples), fitted.predict(examples), strict=True):
        assert one.order == other.order
        assert one.tempered(fitted.temperatures.given).log_probabilities == pytest.approx(other.log_probabilities)
    plain_loss = json.loads((tmp_path / "plain" / "reader.json").read_text())["notes"]["measured"]["loss"]
    assert json.loads(out)["measured"]["loss"] < plain_loss


def test_a_temperature_by_the_length_of_the_text(trained, gareader, tmp_path):
    """The answers to the short texts are wrong here, so that a model should be less sure of them."""
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    assert gareader("pack", reader, "--out", tmp_path / "a", "--measure", corpus, "--by-length")[2] == (
        "gareader: --by-length says how --calibrate fits; add --calibrate\n"
    )
    examples = synthetic.corpus(60, seed=9)
    short = [replace(each, id=f"{each.id} short", answer=0) for each in examples]
    long = [replace(each, document=each.document * 30) for each in examples]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join(map(jsonl.written, [*short, *long])), encoding="utf-8")
    arguments = "pack", reader, "--measure", mixed, "--calibrate", "--by-length"
    code, out, _ = gareader(*arguments, "--calibrate-proposed", mixed, "--out", tmp_path / "sloped")
    assert code == 0
    temperatures = Temperatures.of(read_settings(tmp_path / "sloped"))
    assert f"slope {temperatures.slope:.2f} by the length of the text" in out
    assert temperatures.slope > 0
    sure, unsure = (max(load(tmp_path / "sloped").predict([each])[0].log_probabilities) for each in (long[1], short[1]))
    assert sure > unsure


def test_names_that_are_not_in_the_box(gareader, box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(box, box / "empty")
    (box / "stories").mkdir()
    (box / "stories" / "reader.json").write_text("{}")
    code, out, err = gareader("models", "storys")
    assert (code, out) == (1, "")
    assert err == (
        "gareader: storys: there is no such folder, and no model in the box has that name; "
        "did you mean 'stories'? known: stories\n"
    )
    assert "no model in the box has that name" in gareader("evaluate", "storys", "corpus.txt")[2]


def test_an_analysis_for_people_for_programs_and_as_a_picture(trained, gareader, tmp_path):
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    code, out, err = gareader("analyse", reader, corpus, "--plot", tmp_path / "picture.png")
    assert (code, err) == (0, "")
    assert "of 60 questions" in out
    assert "occurrences of the answer\n  1" in out
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(gareader("analyse", reader, corpus, "--json")[1])
    assert found["accuracy"] == json.loads(gareader("evaluate", reader, corpus, "--json")[1])["accuracy"]
    assert {group["aspect"] for group in found["groups"]} > {"document words", "kind of answer"}
    assert 0 <= found["calibration_cross_fitted"]["error"] <= 1


@pytest.mark.parametrize("command", [("analyse",), ("pack", "--out", "x", "--measure")])
def test_a_corpus_without_answers_measures_nothing(trained, gareader, tmp_path, command):
    corpus = tmp_path / "open.jsonl"
    corpus.write_text('{"document": "Ann has it .", "query": "XXXXX has", "candidates": ["Ann", "it"]}\n')
    command, *rest = command
    code, _, err = gareader(command, trained / "run" / BEST, *rest, corpus)
    assert code == 1
    assert "no question has a known answer" in err


def written(path, *answers, document="Ann has it ."):
    """A corpus with one question for each of these answers."""
    question = {"document": document, "query": "XXXXX has", "candidates": ["Ann", "it", "Bob"]}
    path.write_text("".join(json.dumps({**question, "answer": answer}) + "\n" for answer in answers))
    return path


@pytest.mark.parametrize(
    ("command", "answers", "count", "least"),
    [
        (("analyse",), ["Ann"], 1, 2),
        (("analyse",), ["Bob", "Bob"], 0, 1),
        (("pack", "--calibrate", "--out", "x", "--measure"), ["Bob", "Bob"], 0, 1),
    ],
)
def test_too_few_answers_in_their_document_are_told(trained, gareader, tmp_path, command, answers, count, least):
    corpus = written(tmp_path / "few.jsonl", *answers)
    command, *rest = command
    code, out, err = gareader(command, trained / "run" / BEST, *rest, corpus)
    assert (code, out) == (1, "")
    assert err == (
        f"gareader: {corpus}: too few known answers stand in their document "
        f"({count}; calibration needs {least} or more); look at the corpus with gareader describe\n"
    )


def test_two_answers_are_enough_to_analyse_and_one_to_calibrate(trained, gareader, tmp_path):
    corpus = written(tmp_path / "two.jsonl", "Ann", "it")
    assert gareader("analyse", trained / "run" / BEST, corpus, "--plot", tmp_path / "two.png")[0] == 0
    corpus = written(tmp_path / "one.jsonl", "Ann")
    packing = "pack", trained / "run" / BEST, "--out", tmp_path / "packed", "--measure", corpus, "--calibrate"
    assert gareader(*packing)[0] == 0


def test_where_a_reader_can_be_packed_is_asked_first(trained, gareader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    reader = tmp_path / "reader"
    shutil.copytree(trained / "run" / BEST, reader)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for out, problem in (
        ("mine", "this holds something else than a model; choose another folder"),
        ("mine/notes.txt", "this is a file, and a model is a folder; choose another name"),
        (".", "a model's folder needs a name; write one, for example packed"),
        ("..", "a model's folder needs a name; write one, for example ../packed"),
        ("reader", "this is the model to pack, and packing rounds it; choose another --out"),
        ("mine/../reader", "this is the model to pack, and packing rounds it; choose another --out"),
    ):
        code, printed, err = gareader("pack", reader, "--out", out, "--measure", "no corpus")
        assert (code, printed, err) == (1, "", f"gareader: {out}: {problem}\n")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_name_in_the_box_that_is_also_a_folder_here(trained, gareader, box, tmp_path, monkeypatch):
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    shutil.copytree(reader, box / "people")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").mkdir()
    assert gareader("evaluate", "people", corpus)[0] == 0  # the folder holds no reader
    gareader("pack", reader, "--out", "./people", "--measure", corpus, "--about", "mine")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, out, err = gareader("evaluate", "people", corpus)
    assert code == 0
    assert out.startswith("people: ")
    assert err == "gareader: people is the model in the box; for the folder here write ./people\n"
    assert gareader("evaluate", "./people", corpus)[1].startswith("./people: ")
    assert json.loads(gareader("models", "people/")[1])["about"] == "mine"
    assert "about" not in json.loads(gareader("models", "--json")[1])  # the list is of the box alone


def test_the_card_of_a_folder_stands_beside_it(trained, gareader, tmp_path, monkeypatch):
    reader = tmp_path / "v1.5"
    shutil.copytree(trained / "run" / BEST, reader)
    (tmp_path / "v1.md").write_text("# Another\n", encoding="utf-8")
    monkeypatch.chdir(reader)
    for name in (reader, "."):
        assert json.loads(gareader("models", name)[1])["name"] == "v1.5"
    (tmp_path / "v1.5.md").write_text("# Mine\n", encoding="utf-8")
    for name in (reader, "."):
        assert gareader("models", name)[1] == "# Mine\n"


def test_questions_without_any_answer_are_predicted_and_not_measured(trained, gareader, tmp_path):
    reader, corpus = trained / "run" / BEST, written(tmp_path / "open.jsonl", None, None)
    predictions, results = tmp_path / "answers.jsonl", tmp_path / "results.jsonl"
    code, out, err = gareader("evaluate", reader, corpus, "--predictions", predictions, "--results", results)
    assert (code, err) == (0, "")
    assert (
        out == f"{reader}: predictions for 2 questions in {predictions}; no answer is known, so nothing is measured\n"
    )
    assert [json.loads(line)["answer"] for line in predictions.read_text().splitlines()] == [None, None]
    assert not results.exists()
    both = gareader("evaluate", reader, reader, corpus, "--predictions", predictions, "--json")[1]
    assert json.loads(both) == {
        "reader": "ensemble",
        "examples": 0,
        "accuracy": None,
        "without_answer": 2,
        "predictions": str(predictions),
        "skipped": 0,
    }
    code, _, err = gareader("evaluate", reader, corpus, "--results", results)
    assert code == 1
    assert err == (
        f"gareader: {corpus}: no question has a known answer, so there is nothing to measure; "
        "to keep the predictions type: --predictions FILE\n"
    )


IMPOSSIBLE = [
    "vectors corpus --out x --epochs 0",
    "vectors corpus --out x --width 0",
    "vectors corpus --out x --width -3",
    "vectors corpus --out x --seed -1",
    "vectors corpus --out x --seed 4294967296",
    "bench train --batch 0",
    "bench infer --document 0",
    "bench infer --hidden 0",
    "bench answer --repeats 0",
    "bench serve --clients 0",
    "bench serve --time 0",
    "bench serve --questions 0",
]


@pytest.mark.parametrize("command", IMPOSSIBLE)
def test_an_impossible_number_is_a_usage_error(gareader, command):
    code, out, err = gareader(*command.split())
    assert (code, out) == (2, "")
    assert "Must be" in err


def test_pictures_of_the_attention(trained, gareader, tmp_path, monkeypatch):
    reader, corpus = trained / "run" / BEST, trained / "validation.arrow"
    for number, arguments in enumerate(
        (
            ["--corpus", corpus, "--id", "3"],
            ["--corpus", corpus],
            ["--document", tmp_path / "a.txt", "--query", "XXXXX has"],
        )
    ):
        (tmp_path / "a.txt").write_text("Ann has the lamp. Ben has the drum.")
        out = tmp_path / f"{number}.png"
        code, printed, err = gareader("plot", "attention", "--model", reader, *arguments, "--out", out)
        assert (code, printed, err) == (0, f"{out}\n", "")
        assert out.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / "1.png").read_bytes()
    assert "there is no question 'nine'" in gareader("plot", "attention", "--corpus", corpus, "--id", "nine")[2]
    asked = ["--document", "a.txt", "--query", "XXXXX"]
    for arguments in ([], asked[:2], [*asked, "--id", "3"], [*asked, "--corpus", corpus], ["--corpus", corpus, *asked]):
        code, _, err = gareader("plot", "attention", *arguments)
        assert code == 1
        assert "give --document and --query, or --corpus" in err


@pytest.mark.parametrize(
    "command",
    [
        ("analyse", "no reader", "no corpus", "--plot"),
        ("plot", "attention", "--document", "no story", "--query", "XXXXX", "--out"),
    ],
    ids=" ".join,
)
def test_where_a_picture_can_be_written_is_asked_first(gareader, tmp_path, command):
    code, out, err = gareader(*command, "picture.xyz")
    assert (code, out) == (1, "")
    assert err == "gareader: picture.xyz: a picture is PNG, SVG or PDF; end its name with .png, .svg, .pdf\n"
    nowhere = tmp_path / "nowhere"
    err = gareader(*command, nowhere / "picture.png")[2]
    assert err == f"gareader: {nowhere / 'picture.png'}: there is no folder {nowhere}; type: mkdir -p {nowhere}\n"


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "no reader", "no corpus", "--predictions"),
        ("evaluate", "no reader", "no corpus", "--results"),
        ("vectors", "no corpus", "--out"),
    ],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_told_first(gareader, tmp_path, command):
    nowhere = tmp_path / "nowhere"
    code, _, err = gareader(*command, nowhere / "file")
    assert (code, err) == (1, f"gareader: {nowhere / 'file'}: there is no folder {nowhere}; type: mkdir -p {nowhere}\n")


def test_a_corpus_in_the_place_of_the_reader(gareader, trained):
    code, _, err = gareader("evaluate", trained / "validation.arrow", "stories")
    assert code == 1
    assert (
        "validation.arrow: this is a file, and a model is a folder or a name in the box; type: gareader models" in err
    )
    assert f"did you mean {trained / 'run' / BEST}?" in gareader("evaluate", trained / "run", "stories")[2]


def test_questions_without_an_answer_are_counted(gareader, trained, tmp_path):
    question = {"document": "Ann has it .", "query": "XXXXX has", "candidates": ["Ann", "it"]}
    corpus = tmp_path / "some.jsonl"
    corpus.write_text("".join(json.dumps(each) + "\n" for each in (question, {**question, "answer": "Ann"}, question)))
    assert "\n  not counted: 2 without a known answer\n" in gareader("evaluate", trained / "run" / BEST, corpus)[1]
    assert json.loads(gareader("evaluate", trained / "run" / BEST, corpus, "--json")[1])["without_answer"] == 2
    whole = gareader("evaluate", trained / "run" / BEST, trained / "validation.arrow")[1]
    assert "not counted" not in whole


def test_a_published_accuracy_is_in_percent(gareader):
    code, _, err = gareader("compare", "predictions.jsonl", "--against", "0.9")
    assert (code, err) == (1, "gareader: --against is in percent; for 0.9 type: --against 90\n")


@pytest.mark.parametrize(("temperature", "bound"), [(0.10003, True), (9.9996, True), (1.2, False)])
def test_a_temperature_at_the_bound_of_the_search(temperature, bound):
    measured = {"accuracy": 0.5, "interval": (0.4, 0.6), "examples": 9}
    calibration = {"error": 0.1, "loss": 0.5}
    said = analysis_in_words(
        {
            **measured,
            "reader": "r",
            "corpus": "c",
            "most_frequent_accuracy": 0.3,
            "most_frequent_not_in_query_accuracy": 0.3,
            "groups": [{**measured, "aspect": "a", "name": "n"}],
            "calibration": calibration,
            "calibration_cross_fitted": calibration,
            "temperature": temperature,
        }
    ).splitlines()[-1]
    end = ", at a bound of the search (0.1 to 10)" * bound
    assert said == f"The temperature fitted on all questions is {temperature:.3f}{end}"


def test_a_picture_of_readers_side_by_side(trained, gareader, tmp_path):
    results = tmp_path / "results.jsonl"
    for _ in range(2):
        gareader("evaluate", trained / "run" / BEST, trained / "validation.arrow", "--results", results)
    assert [json.loads(line)["examples"] for line in results.read_text().splitlines()] == [60, 60]
    assert gareader("plot", "compare", results, "--out", tmp_path / "compare.svg")[0] == 0
    assert (tmp_path / "compare.svg").stat().st_size > 3000
    for wrong, message in (("", "holds no results"), ('{"reader": "a"}\n', ":1: no result of a reader"), ("{", ":1:")):
        results.write_text(wrong)
        code, _, err = gareader("plot", "compare", results)
        assert code == 1
        assert message in err
