"""Work in other processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gareader.errors import WorkerError
from gareader.parallel import in_order


def slow_square(number):
    time.sleep(0.02 * (number % 3))
    return number * number


def die(number):
    os._exit(1)


def who(number):
    return os.getpid()


def refuse(number):
    raise WorkerError(f"not {number}")


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers):
    assert list(in_order(slow_square, range(12), workers)) == [number * number for number in range(12)]


def test_no_more_is_taken_than_the_workers_can_use():
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    results = in_order(slow_square, items(), 2)
    assert next(results) == 0
    assert len(taken) <= 6
    results.close()


def test_an_error_comes_through():
    with pytest.raises(WorkerError, match="not 0"):
        list(in_order(refuse, range(3), 2))


def test_a_worker_that_dies_is_told():
    with pytest.raises(WorkerError, match="a worker process ended before its work was done"):
        list(in_order(die, range(3), 2))


FIRST = """
import time
from itertools import count
from gareader.parallel import in_order
from test_parallel import who
if __name__ == "__main__":
    for pid in in_order(who, count(), 2):
        print(pid, flush=True)
        time.sleep(0.01)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc to see which processes there are")
def test_workers_end_with_the_first_process(tmp_path):
    script = tmp_path / "first.py"
    script.write_text(FIRST)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen([sys.executable, script], env=environment, stdout=subprocess.PIPE, text=True) as first:
        workers = {first.stdout.readline().strip() for _ in range(20)}
        first.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while (alive := [pid for pid in workers if Path("/proc", pid).exists()]) and time.monotonic() < end:
        time.sleep(0.02)
    assert workers
    assert not alive
