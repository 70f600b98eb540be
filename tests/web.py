"""A web server on this machine, whose pages a test sets."""

from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Web:
    """Pages by path: bytes, a function of the request, or the path or address that it leads to."""

    def __init__(self, port):
        self.pages = {}
        self.asked: Counter[str] = Counter()
        self.port = port

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def serve_folder(self, folder, below):
        for path in folder.rglob("*"):
            if path.is_file():
                self.pages[f"{below}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()


@contextmanager
def serving():
    """A server, until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            web.asked[self.path] += 1
            page = web.pages.get(self.path)
            if page is None:
                self.send_error(404)
            elif callable(page):
                page(self)
            elif isinstance(page, str):
                self.send_response(302)
                self.send_header("Location", page)
                self.end_headers()
            else:
                reply(self, page)

        def log_message(self, *arguments):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *arguments):
            """A client that leaves before the end is no error here."""

    server = Server(("127.0.0.1", 0), Handler)
    web = Web(server.server_port)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def reply(request, body, length=None):
    """Send a body, which may be shorter than its length says."""
    request.send_response(200)
    request.send_header("Content-Length", str(len(body) if length is None else length))
    request.end_headers()
    request.wfile.write(body)
