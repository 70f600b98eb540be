"""Work in other processes."""

import os
import time

import pytest

from gareader.errors import WorkerError
from gareader.parallel import in_order


def slow_square(number):
    time.sleep(0.02 * (number % 3))
    return number * number


def die(number):
    os._exit(1)


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
