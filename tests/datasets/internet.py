"""A small internet: an HTTP server of this machine that can also misbehave."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from featsieve.datasets import DatasetInfo


class Internet:
    """Serves ``pages`` (by path) under ``url``, and counts the requests."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pages: dict[str, bytes] = {}
        self.cut_after: int | None = None  # bytes, then the connection breaks
        self.requests: list[str] = []


@contextmanager
def internet() -> Iterator[Internet]:
    """Run the server while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            net.requests.append(self.path)
            body = net.pages.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: net.cut_after])

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        net = Internet(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield net
        finally:
            server.shutdown()
            thread.join()


def toy_entry(content: bytes, **changes: object) -> DatasetInfo:
    """Return the entry of a toy data set of 6 x 2 and 3 classes."""
    fields = {
        "name": "toy",
        "group": "paper",
        "n_samples": 6,
        "n_features": 2,
        "n_classes": 3,
        "licence": "none",
        "source": "the toy shop",
        "file": "toy.npz",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return DatasetInfo(**(fields | changes))  # type: ignore[arg-type]
