"""The lines of finished trials, after crashes."""

import pytest

from gareader.studies.study import Result, read_results
from gareader.studies.study.results import RESULTS, append_result


def result(key):
    return Result(key, "Ärger", "things", 1.0, 1, {}, None)


def test_a_line_that_lacks_only_its_newline_is_kept(tmp_path):
    append_result(tmp_path, result("one"))
    path = tmp_path / RESULTS
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    append_result(tmp_path, result("two"))
    assert read_results(tmp_path) == {"one": result("one"), "two": result("two")}
    assert path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("rest", [b'{"key": "torn', '{"key": "tö'.encode()[:-1], b'{"key": "torn"}', b"7", b"  "])
def test_a_line_that_was_cut_off_is_dropped(tmp_path, rest):
    append_result(tmp_path, result("one"))
    with (tmp_path / RESULTS).open("ab") as file:
        file.write(rest)
    assert read_results(tmp_path) == {"one": result("one")}
    append_result(tmp_path, result("two"))
    assert read_results(tmp_path) == {"one": result("one"), "two": result("two")}


def test_of_two_lines_the_later_one_counts(tmp_path):
    append_result(tmp_path, result("one"))
    later = {"test": {"examples": 9, "accuracy": 0.5, "interval": [0.2, 0.8]}}
    append_result(tmp_path, Result("one", "Ärger", "things", 1.0, 1, later, None))
    assert read_results(tmp_path)["one"].splits == later
