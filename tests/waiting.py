"""Waiting for what another process or thread does."""

import time


def wait_until(condition, process=None, seconds=300):
    """Look until the condition holds; a process that ends before, or a deadline that passes, fails the test."""
    end = time.monotonic() + seconds
    while not condition():
        if process is not None and process.poll() is not None:
            assert condition(), f"the process ended first, with {process.returncode}: {said_by(process)}"
            return
        assert time.monotonic() < end, f"waited {seconds} seconds in vain"
        time.sleep(0.005)


def said_by(process):
    return process.stderr.read()[-2000:] if process.stderr else ""


def lines(file):
    """How many there are; none as long as there is no file."""
    return file.read_bytes().count(b"\n") if file.exists() else 0
