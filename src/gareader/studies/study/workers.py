"""Several trials of a study at once, each in a process of its own."""

import signal
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple

import torch

from gareader.core.errors import GareaderError
from gareader.core.parallel import begin_worker
from gareader.kernels.library import use_threads
from gareader.readers.registry import import_readers
from gareader.studies.study.plan import Study, Trial
from gareader.studies.study.running import Studio
from gareader.training.run import Run

FINISHED, STOPPED = "", "stopped"
"""What a worker says at its end; anything else is an error."""


class Job(NamedTuple):
    trial: Trial
    process: SpawnProcess
    pipe: Connection


class TrialPool:
    """Runs the trials of a study, so many at a time."""

    def __init__(self, file: Path, folder: Path, modules: Sequence[str], number: int, threads: int) -> None:
        """`modules` have readers from outside; each of the `number` workers uses so many `threads`."""
        self.arguments = file, folder, [*modules], threads
        self.number = number

    def run(
        self,
        trials: Sequence[Trial],
        stop: Callable[[], bool],
        on_begin: Callable[[Trial], None],
        on_end: Callable[[Trial, str], None],
    ) -> None:
        """Run the trials until the end, or until `stop()` is true and the workers have saved what they did.

        `on_end` gets FINISHED, STOPPED or the message of an error.
        """
        waiting, running, stopping = deque(trials), list[Job](), False
        try:
            while running or (waiting and not stop()):
                while waiting and len(running) < self.number and not stop():
                    running.append(self.started(waiting.popleft()))
                    on_begin(running[-1].trial)
                if stop() and not stopping:
                    stopping = True
                    for job in running:
                        job.process.terminate()
                ended = wait([job.process.sentinel for job in running], timeout=0.2)
                for job in [job for job in running if job.process.sentinel in ended]:
                    running.remove(job)
                    on_end(job.trial, last_words(job))
        finally:  # at a second signal, or an error here
            for job in running:
                job.process.kill()
                job.process.join()

    def started(self, trial: Trial) -> Job:
        context = get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(*self.arguments, trial.key, theirs))
        process.start()
        theirs.close()
        return Job(trial, process, ours)


def last_words(job: Job) -> str:
    """What the process of a job message at its end."""
    job.process.join()
    try:
        message: str = job.pipe.recv()
    except EOFError:
        return f"its process ended with code {job.process.exitcode}; was there enough memory for so many workers?"
    finally:
        job.pipe.close()
    return message


def work(file: Path, folder: Path, modules: Sequence[str], threads: int, key: str, pipe: Connection) -> None:
    """Run one trial; it is stopped by SIGTERM, and ends with its parent."""
    begin_worker()
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    torch.set_num_threads(threads)
    use_threads(threads)
    try:
        for module in modules:
            import_readers(module)
        studio = Studio(Study.load(file), folder)

        def train(run: Run) -> bool:
            return run.train(lambda: bool(stopped)).finished

        trial = next(trial for trial in studio.study.trials if trial.key == key)
        pipe.send(FINISHED if studio.do(trial, train) else STOPPED)
    except GareaderError as error:
        pipe.send(f"{error}")
