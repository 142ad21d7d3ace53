"""A service that takes notices over HTTP, on this machine: what apprise calls `json://`."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 30.0  # seconds until a test that waits for a message gives up


@dataclass(slots=True)
class NoticeServer:
    """`answers` is cleared to let senders wait; `code` is what they are answered."""

    address: str = ""
    code: int = 200
    got: "queue.Queue[dict[str, Any]]" = field(default_factory=queue.Queue)
    answers: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """With enough patience for a test that lets it wait."""
        return f"json://{self.address}/?cto={PATIENCE}&rto={PATIENCE}"

    def next(self) -> dict[str, Any]:
        return self.got.get(timeout=PATIENCE)

    def all(self) -> list[dict[str, Any]]:
        return [self.got.get_nowait() for _ in range(self.got.qsize())]


@contextmanager
def notice_server() -> Iterator[NoticeServer]:
    taken = NoticeServer()
    taken.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"]))
            taken.got.put(json.loads(text))
            taken.answers.wait(PATIENCE)
            self.send_response(taken.code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its parent has it
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        taken.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield taken
        finally:
            taken.answers.set()
            server.shutdown()
            thread.join()
