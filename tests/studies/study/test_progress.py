"""What is said of a study that is going on."""

import pytest

from gareader.studies.study.plan import Trial
from gareader.studies.study.progress import PROGRESS, Progress, read_progress, summary, write_progress
from gareader.studies.study.results import Result

TRIALS = [Trial(row, "CBT", 1.0, 1, object()) for row in ("done", "half", "quarter", "later")]  # type: ignore[arg-type]


def test_the_rest_takes_what_is_left_of_the_begun_and_the_mean_for_the_others():
    results = {TRIALS[0].key: Result(TRIALS[0].key, "done", "CBT", 1.0, 1, {}, {"train": {}}, minutes=60.0)}
    begun = {TRIALS[1].key: Progress(0.5, 90.0), TRIALS[2].key: Progress(0.25, 75.0)}
    assert summary(TRIALS, results, begun, running=True) == [
        "1 of 4 trials done",
        "running: half on CBT, share 1, seed 1: 50% after 90 min, at most 90 min more",
        "running: quarter on CBT, share 1, seed 1: 25% after 75 min, at most 3.8 h more",
        "left: about 8.2 h of one worker; 1 not begun, taken to need the others’ mean",  # 90 + 225 + (60+180+300)/3
    ]


def test_nothing_is_known_of_a_run_without_an_update():
    assert summary(TRIALS, {}, {TRIALS[1].key: Progress(0.0, 0.0)}, running=False) == [
        "0 of 4 trials done",
        "stopped: half on CBT, share 1, seed 1: 0% after 0 min",
    ]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"share": 2.0, "minutes": 1.0}', b'{"share": "x"}'])
def test_a_damaged_file_says_nothing(tmp_path, damage):
    write_progress(tmp_path, Progress(0.5, 3.0))
    assert read_progress(tmp_path) == Progress(0.5, 3.0)
    (tmp_path / PROGRESS).write_bytes(damage)
    assert read_progress(tmp_path) is None
    assert read_progress(tmp_path / "none") is None
