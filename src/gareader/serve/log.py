"""The log of the service: problems, at most one line a second of a kind, and on request a line for each request."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from traceback import extract_tb
from typing import Any

SECONDS = 1.0
"""The least time between two lines of one kind."""


class Log:
    """Writes lines, none of which has the users' texts."""

    def __init__(self, write: Callable[[str], None], *, as_json: bool = False, clock: Callable[[], float] = monotonic):
        """With `as_json`, every line is a JSON object, and every request has one."""
        self.write, self.as_json, self.clock = write, as_json, clock
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def request(self, **fields: Any) -> None:
        """Write what was asked and how it ended, if that was wished for."""
        if self.as_json:
            self._write("request", **fields)

    def tell(self, kind: str, text: str) -> None:
        """Write a problem, unless one of this kind was written less than a second ago."""
        now = self.clock()
        if now - self._last.get(kind, -SECONDS) < SECONDS:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return
        self._last[kind] = now
        count = self._left_out.pop(kind, 0)
        self._write(kind, message=f"{text} (and {count} times before)" if count else text)

    def failure(self, error: BaseException) -> None:
        """Write where an error came from, without its message, which may have a user's text."""
        places = [f"{each.filename}:{each.lineno} {each.name}" for each in extract_tb(error.__traceback__)]
        self.tell("failure", f"{type(error).__name__} at {' > '.join(places)}")

    def _write(self, kind: str, **fields: Any) -> None:
        line = f"gareader: {fields.get('message')}"
        if self.as_json:
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            line = json.dumps({"time": time, "kind": kind, **fields})
        with suppress(OSError):  # its reader has gone, or the disk is full: the service goes on
            self.write(line)
