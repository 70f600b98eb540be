"""How long and how much memory the first answer takes, in numpy and on torch, and the room of an installation.

Example: `python -m benchmarks.first_answer --repeats 1`
"""

import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchmarks.script import Json, Repeats, start
from gareader.core.errors import GareaderError
from gareader.kernels.library import instruction_sets

WITHOUT_BYTECODE, BYTECODE = "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"
"""Environment variables of Python: the first would make every process compile all modules again."""
LOAD = "import gareader\nmodel = gareader.load()\n"
LOAD_ON_TORCH = """
from gareader.trained.model import OnTorch, load
from gareader.trained.models import folder
from gareader.trained.predictor import Predictor
stored = load(folder("stories"))
model = Predictor(OnTorch(stored.reader), stored.collator, stored.temperatures)
"""
ANSWER = "import sys\nprint(model.answer(open(sys.argv[1]).read(), sys.argv[2]).best)\n"


@dataclass(frozen=True)
class Costs:
    """What one way to the first answer costs; each time is a median over fresh processes."""

    way: str
    load_seconds: float
    """`import gareader; gareader.load()`, with the start of Python."""
    answer_seconds: float
    """The same, and an answer to a question about a story of 430 words."""
    answer_megabytes: float
    """The peak memory of that process."""


@dataclass(frozen=True)
class Result:
    """All costs of one run."""

    machine: str
    ways: list[Costs]
    command_seconds: float
    """`gareader answer`, from the shell."""
    service_seconds: float
    """`gareader serve` from its start to its first answer."""
    installed_megabytes: float | None
    """The packages of a fresh environment with `pip install .`, without Python itself."""


def main(*, repeats: Repeats = 5, install: bool = False, as_json: Json = False) -> None:
    """Time fresh processes up to their first answer, with compiled modules, as an installation has them.

    Parameters
    ----------
    install
        Also make an environment with `pip install .` and measure its room on disk.
    """
    with TemporaryDirectory() as folder:
        story = Path(folder, "story.txt")
        query = write_story(story)
        programs = {"numpy": LOAD, "torch": LOAD_ON_TORCH}
        loads: dict[str, list[float]] = {way: [] for way in programs}
        answers: dict[str, list[tuple[float, float]]] = {way: [] for way in programs}
        commands, services = [], []
        os.environ.pop(WITHOUT_BYTECODE, None)
        os.environ[BYTECODE] = str(Path(folder, "bytecode"))  # each command is run once before it is measured
        command = [sys.executable, "-m", "gareader", "answer", "--document", str(story), "--query", query]
        for _ in range(repeats + 1):
            for way, program in programs.items():
                loads[way].append(run([sys.executable, "-c", program])[0])
                answers[way].append(run([sys.executable, "-c", program + ANSWER, str(story), query]))
            commands.append(run(command)[0])
            services.append(service_start(story.read_text(encoding="utf-8"), query))
        ways = [
            Costs(
                way,
                median(loads[way][1:]),
                median(time for time, _ in answers[way][1:]),
                max(room for _, room in answers[way][1:]),
            )
            for way in programs
        ]
        room = installed(Path(folder, "environment")) if install else None
    machine = f"{platform.machine()}, {', '.join(instruction_sets()) or 'no native kernel'}, {os.cpu_count()} cores"
    result = Result(machine, ways, median(commands[1:]), median(services[1:]), room)
    print(json.dumps(asdict(result)) if as_json else in_words(result))


def write_story(path: Path) -> str:
    """Write two bundled stories, of some 430 words together, and return the question of the first."""
    lines = (files("gareader.data") / "stories" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines[:2])
    path.write_text(f"{first['document']}\n\n{second['document']}", encoding="utf-8")
    return str(first["query"])


def run(command: list[str]) -> tuple[float, float]:
    """Run a process; return its seconds and its peak memory in megabytes."""
    began = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603
    _, status, usage = os.wait4(process.pid, 0)
    duration = perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise GareaderError(f"exit code {process.returncode} of {' '.join(command[:3])} …")
    return duration, usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def service_start(document: str, query: str) -> float:
    """The seconds from the start of a service to its first answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    body = json.dumps({"document": document, "query": query}).encode()
    request = Request(f"http://127.0.0.1:{port}/answer", body, {"Content-Type": "application/json"})
    began = perf_counter()
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "gareader", "serve", "--port", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: urlopen(request).read(), process)  # noqa: S310
        return perf_counter() - began
    finally:
        process.terminate()
        process.wait()


def wait_for(ask: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    """Ask until there is an answer."""
    while True:
        try:
            ask()
            return
        except (URLError, ConnectionError):
            if process.poll() is not None:
                raise GareaderError("the service has ended before its first answer") from None
            sleep(0.005)


def installed(environment: Path) -> float:
    """The megabytes of the packages of a new environment with gareader, without Python, pip and their caches."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)  # noqa: S603
    packages = next(environment.glob("lib*/python*/site-packages"))
    before = size(packages)
    line = [str(environment / "bin" / "pip"), "install", "--quiet", "-c", "constraints.txt", "."]
    subprocess.run(line, check=True)  # noqa: S603
    return (size(packages) - before) / 1e6


def size(folder: Path) -> int:
    """The bytes of all files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def in_words(result: Result) -> str:
    """The result as text."""
    lines = [result.machine]
    lines += [
        f"{costs.way:6} import and load {costs.load_seconds:.2f} s   with an answer {costs.answer_seconds:.2f} s"
        f"   peak memory {costs.answer_megabytes:.0f} MB"
        for costs in result.ways
    ]
    lines.append(f"gareader answer {result.command_seconds:.2f} s")
    lines.append(f"gareader serve, until the first answer {result.service_seconds:.2f} s")
    if result.installed_megabytes is not None:
        lines.append(f"pip install gareader: {result.installed_megabytes:.0f} MB")
    return "\n".join(lines)


if __name__ == "__main__":
    start(main)
