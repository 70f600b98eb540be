"""A folder belongs to one run or sweep, and one that could not begin leaves nothing."""

import pytest

from gareader.core.claims import check_same, clean_unless, read_claim, write_claim
from gareader.core.errors import TrainingError


def test_what_was_written_down_comes_back(tmp_path):
    write_claim(tmp_path / "new" / "claim.json", {"name": "Zoë"})
    assert read_claim(tmp_path / "new" / "claim.json", "nothing") == {"name": "Zoë"}


@pytest.mark.parametrize("text", [None, "", "[]", "{"])
def test_what_is_no_claim(tmp_path, text):
    if text is not None:
        (tmp_path / "claim.json").write_text(text)
    with pytest.raises(TrainingError, match="there is no run here"):
        read_claim(tmp_path / "claim.json", "there is no run here")


def test_other_settings():
    check_same("the run there", [], "use its own")
    with pytest.raises(TrainingError, match=r"the run there has other settings \(train.rho, train.seed\); use its own"):
        check_same("the run there", ["train.rho", "train.seed"], "use its own")


@pytest.mark.parametrize("begun", [False, True])
def test_what_could_not_begin_is_removed_unless_it_has_begun(tmp_path, begun):
    (tmp_path / "before").touch()

    def begin():
        with clean_unless(lambda: begun, lambda: [*tmp_path.iterdir()]):
            (tmp_path / "file").touch()
            (tmp_path / "folder" / "below").mkdir(parents=True)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        begin()
    assert {path.name for path in tmp_path.iterdir()} == ({"before", "file", "folder"} if begun else {"before"})
