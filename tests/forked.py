"""gareader in processes of its own that are forked from one that has imported torch: an import takes seconds."""

import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import weakref
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from places import PROJECT

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "matplotlib.backends.backend_agg",
        "torch._dynamo",  # the first optimiser imports it
        "torch.distributed.nn",
        "gareader.cli",
        "gareader.measuring.evaluation",
        "gareader.trained.predictor",
        "gareader.training.experiment",
    ]
)


def gareader(*arguments):
    """What a process does if nothing else is said."""
    sys.argv = ["gareader", *arguments]
    from gareader.cli import main

    main()


def execute(code):
    """A target for a program that is a text."""
    exec(code, {"__name__": "__main__"})  # noqa: S102


def _run(target, arguments, folder, cwd, environment):
    for number, name in enumerate(("stdout", "stderr"), 1):
        os.dup2(os.open(folder / name, os.O_WRONLY), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    target(*arguments)


class Command:
    """A running command, with the methods of subprocess.Popen; `target` is a function to call instead of gareader.

    Its environment is that of the test, with the changes of `env`; None takes a variable away.
    """

    def __init__(self, *arguments, cwd=PROJECT, env=None, target=gareader):
        self.folder = Path(tempfile.mkdtemp(prefix="forked-"))
        weakref.finalize(self, shutil.rmtree, self.folder)
        for name in ("stdout", "stderr"):
            (self.folder / name).touch()
        self.args = list(map(str, arguments))
        environment = {name: value for name, value in {**os.environ, **(env or {})}.items() if value is not None}
        self.process = FORKS.Process(target=_run, args=(target, self.args, self.folder, cwd, environment))
        self.process.start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.join()

    @property
    def pid(self):
        return self.process.pid

    @property
    def returncode(self):
        return self.process.exitcode

    @property
    def stderr(self):
        return StringIO((self.folder / "stderr").read_text())

    def poll(self):
        return self.process.exitcode

    def wait(self, timeout=None):
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return self.process.exitcode

    def communicate(self, timeout=None):
        self.wait(timeout)
        return tuple((self.folder / name).read_text() for name in ("stdout", "stderr"))

    def send_signal(self, number):
        os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


def run(*arguments, **options):
    """The command at its end, like subprocess.run."""
    command = Command(*arguments, **options)
    stdout, stderr = command.communicate()
    return CompletedProcess(command.args, command.returncode, stdout, stderr)


def together(count, *arguments, **options):
    """So many processes that find each other as those of torchrun do; what all of them say, at the end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    sizes = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count)}
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]
    commands = [Command(*arguments, env={**place, **sizes, **rank}, **options) for rank in ranks]
    try:
        while any(command.poll() is None for command in commands) and not any(command.poll() for command in commands):
            time.sleep(0.02)
        said = [command.communicate(30) for command in commands]
    finally:
        for command in commands:
            command.process.kill()
    codes = [command.returncode for command in commands]
    return CompletedProcess(commands[0].args, max(codes, key=abs), *map("".join, zip(*said, strict=True)))
