"""A service on a free port of this machine, in the test's event loop or in a thread."""

import asyncio
import socket
import threading
from contextlib import asynccontextmanager, contextmanager

from gareader.serve.connections import Server
from gareader.serve.service import ModelService


@asynccontextmanager
async def running(service, **settings):
    """A server of the service in this event loop."""
    async with service.open():
        server = Server(service, socket.create_server(("127.0.0.1", 0)), **settings)
        task = asyncio.create_task(server.run())
        await asyncio.sleep(0)
        try:
            yield server
        finally:
            if not server.stopping:
                server.stop()
            await task


@contextmanager
def served(models, **settings):
    """The address of a service in a thread."""
    ready, ends, found = threading.Event(), [], []

    async def serve():
        async with running(ModelService(models, **settings)) as server:
            end = asyncio.Event()
            ends.append((asyncio.get_running_loop(), end))
            found.append(f"http://127.0.0.1:{server.port}/")
            ready.set()
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(60)
    yield found[0]
    loop, end = ends[0]
    loop.call_soon_threadsafe(end.set)
    thread.join()
