"""Work in other processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from gareader.core.errors import WorkerError
from gareader.core.parallel import in_order
from places import PROJECT
from waiting import wait_until

pytestmark = pytest.mark.slow


def square(number):
    return number * number


def square_after_the_next(item):
    """With two workers an even number is done only after the odd one that follows it."""
    number, folder = item
    if number % 2 == 0:
        wait_until((folder / str(number + 1)).exists)
    (folder / str(number)).touch()
    return number * number


def die(number):
    os._exit(1)


def who(number):
    return os.getpid()


def square_and_who(number):
    return number * number, os.getpid()


def refuse_there(first_process):
    if os.getpid() != first_process:
        raise WorkerError("not 0")


def refuse_here(first_process):
    if os.getpid() == first_process:
        raise WorkerError("not here")


def test_results_come_in_order(tmp_path):
    squares = [number * number for number in range(12)]
    assert list(in_order(square, range(12), 1)) == squares
    items = [(number, tmp_path) for number in range(12)]
    assert list(in_order(square_after_the_next, items, 2)) == squares


def test_no_more_is_taken_than_the_workers_can_use():
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    results = in_order(square, items(), 2)
    assert next(results) == 0
    assert len(taken) <= 6
    assert isinstance(results, Generator)
    results.close()


def test_this_process_takes_part():
    results = list(in_order(square_and_who, range(60), 2, take_part=True))
    assert [number for number, _ in results] == [number * number for number in range(60)]
    assert len({pid for _, pid in results}) == 2
    assert os.getpid() in {pid for _, pid in results}


@pytest.mark.parametrize("take_part", [False, True])
def test_an_error_comes_through(take_part):
    with pytest.raises(WorkerError, match="not 0"):
        list(in_order(refuse_there, [os.getpid()] * 3, 2, take_part=take_part))


def test_an_error_in_this_process_comes_through():
    with pytest.raises(WorkerError, match="not here"):
        list(in_order(refuse_here, [os.getpid()] * 30, 2, take_part=True))


def test_a_worker_that_dies_is_told():
    with pytest.raises(WorkerError, match="a worker process ended before its work was done"):
        list(in_order(die, range(3), 2))


FIRST = """
from itertools import count
from gareader.core.parallel import in_order
from core.test_parallel import who
if __name__ == "__main__":
    for pid in in_order(who, count(), 2):
        print(pid, flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to see which processes there are")
def test_workers_end_with_the_first_process(tmp_path):
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "tests")}
    with subprocess.Popen([sys.executable, script], env=environment, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout
        workers = {first.stdout.readline().strip() for _ in range(20)}
        first.send_signal(signal.SIGKILL)
    assert all(workers)  # an empty line would be a script that has ended
    wait_until(lambda: not any(Path("/proc", pid).exists() for pid in workers))
