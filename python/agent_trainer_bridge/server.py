"""The HTTP API: access, sizes, and answers. What routes do is in `routes.py`."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .errors import BadRequest, BridgeError, NotFound, TooLarge, Unauthorized
from .routes import OPERATIONS, READS, Services


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "agent-trainer-bridge"
    sys_version = ""
    # A header that never ends must not hold a thread.
    timeout = 120
    services: Services

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _get(self) -> tuple[int, dict[str, Any]]:
        url = urlsplit(self.path)
        if url.path.startswith("/operations/"):
            try:
                wait = float(parse_qs(url.query).get("wait", ["0"])[0])
            except ValueError as error:
                raise BadRequest("wait must be a number of seconds.") from error
            operation = self.services.operations.get(url.path.removeprefix("/operations/"), wait)
            return 200, operation.to_json()
        read = READS.get(url.path)
        if read is None:
            raise NotFound(f"There is no GET {url.path}.")
        return 200, read(self.services)

    def _post(self) -> tuple[int, dict[str, Any]]:
        path = urlsplit(self.path).path
        body = self._body()
        if path == "/shutdown":
            self.services.stop()
            return 202, {"status": "stopping"}
        make = OPERATIONS.get(path)
        if make is None:
            raise NotFound(f"There is no POST {path}.")
        work = make(self.services.training, body)
        key = self.headers.get("Idempotency-Key")
        operation = self.services.operations.submit(path.removeprefix("/"), work, key)
        return 202, {"operation": operation.id}

    def _body(self) -> bytes:
        try:
            size = int(self.headers.get("Content-Length", "0"))
        except ValueError as error:
            raise BadRequest("Content-Length must be a number.") from error
        if size < 0 or size > self.services.max_body_bytes:
            self.close_connection = True
            raise TooLarge(f"The body has {size} bytes, more than {self.services.max_body_bytes}.")
        return self.rfile.read(size)

    def _check_access(self) -> None:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.services.token}".encode()):
            # What follows may be a body that nobody reads.
            self.close_connection = True
            raise Unauthorized("The bearer token is missing or wrong.")

    def _answer(self, work: Callable[[], tuple[int, dict[str, Any]]]) -> None:
        try:
            self._check_access()
            status, answer = work()
        except BridgeError as error:
            status, answer = error.status, {"error": {"kind": error.kind, "message": str(error)}}
        data = json.dumps(answer, allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True


def make_server(services: Services, host: str, port: int) -> ThreadingHTTPServer:
    """Bound, but not serving yet; port 0 takes a free one."""
    handler = type("Handler", (_Handler,), {"services": services})
    return _Server((host, port), handler)
