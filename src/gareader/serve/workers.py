"""The processes of the service: one, or several that are forked after the models are loaded and share their memory."""

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from gareader.core.errors import GareaderError
from gareader.kernels.library import threads, use_threads
from gareader.serve.connections import Server
from gareader.serve.service import ModelService

SIGNALS = (signal.SIGINT, signal.SIGTERM)
TOLD = (*SIGNALS, signal.SIGCHLD)
"""The signals that the first of several processes waits for."""
CONNECTIONS = 4096
"""The most connections of a process, if it may have so many files."""
RESERVED_FILES = 32
"""Open files of a process that are no connections."""
SWITCH_SECONDS = 0.0005
"""How long the event loop keeps Python's lock from the thread that reads, which needs it between two native calls."""
AGAIN = 1.0
"""A worker that has ended earlier than so many seconds after its start is not replaced at once."""


def most_connections() -> int:
    """The most connections of a process: fewer than its files."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS if allowed == resource.RLIM_INFINITY else max(1, min(CONNECTIONS, allowed - RESERVED_FILES))


def serve(service: ModelService, listener: socket.socket, *, worker: int = 0, parent: int | None = None) -> None:
    """Serve in this process until a signal; `parent` is a file that ends with the process that has forked this one."""
    asyncio.run(_serve(service, listener, worker, parent))


async def _serve(service: ModelService, listener: socket.socket, worker: int, parent: int | None) -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: _unexpected(service, context))
    server = Server(
        service, listener, body_bytes=service.limits.body_bytes, most=most_connections(), tell=service.log.tell
    )
    for number in SIGNALS:
        loop.add_signal_handler(number, server.stop)
    if parent is not None:
        loop.add_signal_handler(signal.SIGINT, lambda: None)  # Ctrl-C reaches all processes; the parent tells the end
        loop.add_reader(parent, server.stop)
    async with service.open(worker):
        await server.run()


def _unexpected(service: ModelService, context: dict[str, object]) -> None:
    error = context.get("exception")
    if isinstance(error, BaseException):
        service.log.failure(error)
    else:
        service.log.tell("loop", "the event loop has met a problem")


class Workers:
    """Keeps several forked processes that serve one listener, and replaces those that die."""

    def __init__(self, service: ModelService, listener: socket.socket, number: int, warm: Callable[[], None]) -> None:
        """`warm` is called before the workers are forked, and in each of them before it serves."""
        if not hasattr(os, "fork"):
            raise GareaderError("this system cannot fork processes; leave out --workers")
        self.service, self.listener, self.number, self.warm = service, listener, number, warm
        self.threads = max(1, threads() // number)
        service.batch_size = max(1, service.batch_size // number)  # all together read as many as one would alone
        self.running: dict[int, tuple[int, float]] = {}
        """The number and the start of each worker, by its process id."""
        self.alive, self.alive_here = os.pipe()

    def run(self) -> None:
        if "torch" not in sys.modules:  # its threads would not be forked
            use_threads(1)
            self.warm()  # what answers need beside the models is shared too
        gc.collect()
        gc.freeze()  # the collector would write to pages that all processes share
        signal.pthread_sigmask(signal.SIG_BLOCK, TOLD)
        for worker in range(self.number):
            self._start(worker)
        while signal.sigwait(TOLD) == signal.SIGCHLD:
            for worker, status, began in self._ended():
                self.service.log.tell("worker", f"worker {worker} has died ({_cause(status)}) and is replaced")
                if monotonic() - began < AGAIN and signal.sigtimedwait(SIGNALS, AGAIN) is not None:
                    self._stop()
                    return
                self._start(worker)
        self._stop()

    def _start(self, worker: int) -> None:
        began = monotonic()
        pid = os.fork()
        if pid:
            self.running[pid] = worker, began
            return
        code = 1
        try:
            os.close(self.alive_here)
            use_threads(self.threads)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, TOLD)
            self.warm()
            serve(self.service, self.listener, worker=worker, parent=self.alive)
            code = 0
        except BaseException as error:  # noqa: BLE001 - it is told, and the process ends
            self.service.log.failure(error)
        finally:
            os._exit(code)

    def _ended(self) -> list[tuple[int, int, float]]:
        """Number, status and start of the workers that have ended."""
        ended = []
        with suppress(ChildProcessError):
            while (process := os.waitpid(-1, os.WNOHANG))[0]:
                worker, began = self.running.pop(process[0])
                ended.append((worker, process[1], began))
        return ended

    def _stop(self) -> None:
        """Pass the signal to the workers, and each that follows, until they have ended."""
        self.listener.close()
        number: int = signal.SIGTERM
        while self.running:
            if number in SIGNALS:
                for pid in self.running:
                    os.kill(pid, signal.SIGTERM)
            self._ended()
            number = signal.sigwait(TOLD) if self.running else number


def _cause(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit code {code}"
