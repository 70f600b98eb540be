"""The command that serves models over HTTP."""

import errno
import os
import socket
import sys
from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from gareader.cli.app import AtLeastOne, Modules, complain, import_modules, model_folder
from gareader.cli.models import record
from gareader.core.errors import GareaderError
from gareader.data.vocabulary import LOOKUPS
from gareader.trained import models as box
from gareader.trained.predictor import load


def serve(
    *models: str,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8000,
    allowed_host: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    token: str | None = None,
    workers: Annotated[int, Parameter(validator=Number(gte=1, lte=256))] = 1,
    batch_size: AtLeastOne = 32,
    document_words: AtLeastOne = 10_000,
    log: Literal["json"] | None = None,
    check: Annotated[bool, Parameter(negative=())] = False,
    modules: Modules = (),
) -> None:
    """A page for people and a service for programs.

    Example: `gareader serve --check`

    Parameters
    ----------
    models
        Models in the box, or folders of trained ones; the first is the default. All of the box if none is named.
    host
        The address to listen at; others than this machine can connect only if you change it.
    port
        The port; 0 takes a free one.
    allowed_host
        Another name by which the service is reached, such as that of a proxy before it; may be given several times.
    token
        What programs must send as `Authorization: Bearer …`; also taken from GAREADER_TOKEN.
    workers
        Processes that share the port, the models and the cores.
    batch_size
        The most questions of a batch; of all workers together.
    document_words
        The most words of a document; longer ones are refused.
    log
        Write a line for each request to stderr, as JSON and without the users' texts.
    check
        Load the models, answer one question, and stop.
    """
    folders = {name: model_folder(name) for name in models or sorted(box.names(), key=lambda name: name != box.DEFAULT)}
    required = os.environ.get("GAREADER_TOKEN") if token is None else token
    if required is not None and not required.strip():
        raise GareaderError("the token is empty; write one behind --token or into GAREADER_TOKEN, or leave both out")
    if required is not None and not (required.isascii() and required.isprintable() and " " not in required):
        raise GareaderError(
            "the token has spaces, accents or control characters, which no page can send; choose another"
        )
    import_modules(modules)
    from gareader.serve.hosts import Hosts
    from gareader.serve.log import Log
    from gareader.serve.messages import Limits
    from gareader.serve.service import ModelService
    from gareader.serve.workers import Workers
    from gareader.serve.workers import serve as serve_alone

    loaded = {name: load(folder) for name, folder in folders.items()}

    # After so many words a vocabulary makes its dict, which workers are to share.
    more = " ".join(map(str, range(LOOKUPS))) if workers > 1 else ""

    def warm() -> None:
        """Answer once: imports, threads, and whether it works at all."""
        for name, model in loaded.items():
            first = model.answer(f"Ann has the lamp. Ben has the drum. {more}", "XXXXX has the lamp.")
            if check:
                print(f"{name}: ready, answering with {first.best} among {len(first.ranking)}")

    if check:
        warm()
        return
    listener = listening(host, port)
    service = ModelService(
        loaded,
        about=[{**record(folder), "name": name} for name, folder in folders.items()],
        limits=replace(Limits(), document_words=document_words),
        token=required,
        batch_size=batch_size,
        hosts=Hosts.of(host, allowed_host),
        log=Log(lambda line: print(line, file=sys.stderr, flush=True), as_json=log == "json"),
        workers=workers,
    )
    place = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
    access = "without a token" if required is None else "to those who send the token"
    line = f"serving {', '.join(loaded)} at {place} {access} (programs: POST /answer, see /docs); Ctrl-C stops"
    if workers > 1:
        complain(line)
        Workers(service, listener, workers, warm).run()
    else:
        warm()
        complain(line)
        serve_alone(service, listener)


def listening(host: str, port: int) -> socket.socket:
    """Open a socket at that address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise GareaderError(f"port {port} is in use; choose another with --port") from None
        way_out = "choose others with --host and --port"
        raise GareaderError(f"cannot listen at {host}, port {port} ({error.strerror}); {way_out}") from None
