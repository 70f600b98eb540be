"""The commands push and export, and models by their address in the others."""

import json

import pytest

from gareader.trained import models
from gareader.trained.card import without_local_links
from gareader.trained.predictor import load
from packed_readers import made, write_box, write_vectors, written
from places import PROJECT
from synthetic import corpus
from web import serving

pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")

STORY = PROJECT / "configs" / "tiny" / "story.txt"


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    made(write_box(folder / "box", write_vectors(folder / "vectors.txt")), "one", "two")
    return folder / "box"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GAREADER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_push_and_every_command_that_takes_a_model(gareader, box, tmp_path):
    code, out, err = gareader("push", box / "all", tmp_path / "out.tar.xz", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["load"] == f"{(tmp_path / 'out.tar.xz').as_uri()}#sha256={record['sha256']}"
    (tmp_path / "questions.jsonl").write_text("".join(map(written, corpus(3, seed=1))))
    with serving() as web:
        web.serve_folder(tmp_path, "")
        address = f"{web.address('/out.tar.xz')}#sha256={record['sha256']}"
        for words in (
            ["answer", "--model", address, "--document", STORY, "--query", "XXXXX has the lamp.", "--json"],
            ["evaluate", address, tmp_path / "questions.jsonl", "--json"],
            ["analyse", address, tmp_path / "questions.jsonl", "--json"],
            ["serve", address, "--check"],
            ["models", address, "--json"],
        ):
            code, out, err = gareader(*words)
            assert (code, err) == (0, ""), words
            assert out
        assert web.asked["/out.tar.xz"] == 1
    expected = load(box / "all").answer(STORY.read_text(), "XXXXX has the lamp.")
    code, out, err = gareader(
        "answer", "--model", address, "--document", STORY, "--query", "XXXXX has the lamp.", "--json"
    )
    assert json.loads(out)["best"] == expected.best


def test_a_model_of_the_box_is_pushed_with_its_card_and_licence(gareader, tmp_path):
    code, out, err = gareader("push", "stories-one-hop", (tmp_path / "there").as_uri())
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("Load it with its checksum: gareader.load('file:///")
    card = (tmp_path / "there" / "README.md").read_text(encoding="utf-8")
    assert 'license: "mit"' in card
    own = (models.BOX / "stories-one-hop.md").read_text(encoding="utf-8")
    assert card.endswith(without_local_links(own))
    assert ".md" not in card  # the other cards do not go with it
    assert gareader("models", tmp_path / "there")[1] == without_local_links(own)
    code, out, err = gareader("push", "stories-one-hop", tmp_path / "there")
    assert (code, out) == (1, "")
    assert "to replace it type: --force" in err


def test_a_card_of_ones_own(gareader, box, tmp_path):
    (tmp_path / "card.md").write_text("# Mine\n")
    options = "--card", tmp_path / "card.md", "--license", "cc0-1.0", "--dataset", "me/stories", "--dataset", "me/books"
    assert gareader("push", box / "one", tmp_path / "one", *options)[0] == 0
    card = (tmp_path / "one" / "README.md").read_text()
    assert 'license: "cc0-1.0"' in card
    assert '- "me/stories"\n- "me/books"\n' in card
    assert card.endswith("# Mine\n")
    (tmp_path / "card.md").write_bytes(b"\xff")
    assert (
        "the card cannot be read (it is not UTF-8)"
        in gareader("push", box / "one", tmp_path / "two", "--card", tmp_path / "card.md")[2]
    )


def test_the_name_of_a_run_is_the_models(gareader, box, tmp_path):
    run = tmp_path / "runs" / "owls"
    assert gareader("push", box / "one", run / "best")[0] == 0
    (run / "best" / "README.md").unlink()
    assert gareader("push", run / "best", tmp_path / "out")[0] == 0
    assert "# owls\n" in (tmp_path / "out" / "README.md").read_text()


def test_export(gareader, box, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra export: pip install 'gareader[export]'")
    code, out, err = gareader("export", box / "one", "--out", tmp_path / "one.onnx", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["bytes"] == (tmp_path / "one.onnx").stat().st_size
    code, out, err = gareader("export", "stories-ensemble", "--out", tmp_path / "x.onnx")
    assert (code, out) == (1, "")
    assert "an ensemble is several models; export each: stories, stories-one-hop" in err
