"""The command that serves models over HTTP."""

import errno
import os
import signal
import socket
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from gareader.cli.app import Modules, complain, import_modules, model_folder
from gareader.cli.models import record
from gareader.core.errors import GareaderError
from gareader.trained.models import DEFAULT
from gareader.trained.predictor import load


def serve(
    *models: str,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8000,
    token: str | None = None,
    batch_size: Annotated[int, Parameter(validator=Number(gte=1))] = 32,
    document_words: Annotated[int, Parameter(validator=Number(gte=1))] = 10_000,
    check: Annotated[bool, Parameter(negative=())] = False,
    modules: Modules = (),
) -> None:
    """A page for people and a service for programs; needs the extra `serve`.

    Example: `gareader serve --check`

    Parameters
    ----------
    models
        Models in the box, or folders of trained ones; the first is the default. `stories` if none is named.
    host
        The address to listen at; others than this machine can connect only if you change it.
    port
        The port; 0 takes a free one.
    token
        What programs must send as `Authorization: Bearer …`; also taken from GAREADER_TOKEN.
    batch_size
        The most questions of a batch.
    document_words
        The most words of a document; longer ones are refused.
    check
        Load the models, answer one question, and stop.
    """
    folders = {name: model_folder(name) for name in models or (DEFAULT,)}
    required = os.environ.get("GAREADER_TOKEN") if token is None else token
    if required is not None and not required.strip():
        raise GareaderError("the token is empty; write one behind --token or into GAREADER_TOKEN, or leave both out")
    import_modules(modules)
    import uvicorn

    from gareader.serve.messages import Limits
    from gareader.serve.service import create_app

    loaded = {name: load(folder) for name, folder in folders.items()}
    first = next(iter(loaded.values())).answer(
        "Ann has the lamp. Ben has the drum.", "XXXXX has the lamp."
    )  # imports, threads
    if check:
        print(f"{', '.join(loaded)}: ready, answering with {first.best} among {len(first.ranking)}")
        return
    listener = listening(host, port)
    service = create_app(
        loaded,
        about=[{**record(folder), "name": name} for name, folder in folders.items()],
        limits=replace(Limits(), document_words=document_words),
        token=required,
        batch_size=batch_size,
    )
    config = uvicorn.Config(service, log_level="warning", access_log=False, timeout_graceful_shutdown=60)
    server = uvicorn.Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn stops by them, then raises them again
        signal.signal(number, lambda *_: None)
    place = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
    access = "without a token" if required is None else "to those who send the token"
    complain(f"serving {', '.join(loaded)} at {place} {access} (programs: POST /answer, see /docs); Ctrl-C stops")
    server.run([listener])


def listening(host: str, port: int) -> socket.socket:
    """Open a socket at that address."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise GareaderError(f"port {port} is in use; choose another with --port") from None
        way_out = "choose others with --host and --port"
        raise GareaderError(f"cannot listen at {host}, port {port} ({error.strerror}); {way_out}") from None
