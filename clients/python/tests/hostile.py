"""A server on loopback that answers with any bytes, and records what it received."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Union


@dataclass
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body_bytes: int
    body: bytes = field(repr=False, default=b"")


Answer = Union[bytes, None]
"""The bytes of the whole response. `None` closes the connection without an answer."""


class HostileServer:
    """Answers one request per connection by `answer(request, number)`, where the first request has the number 0."""

    def __init__(self, answer: Callable[[Received, int], Answer], *, port: int = 0, keeps_bodies: bool = True) -> None:
        self._answer = answer
        self._keeps_bodies = keeps_bodies
        self.received: list[Received] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> HostileServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        # `shutdown` wakes the thread that accepts connections.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            request = self._read(connection)
            if request is None:
                return
            with self._lock:
                number = len(self.received)
                self.received.append(request)
            answer = self._answer(request, number)
            if answer is not None:
                try:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                except OSError:
                    pass

    def _read(self, connection: socket.socket) -> Received | None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return None
            head += piece
        head, _, rest = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body, size = [rest], len(rest)
        chunked = headers.get("transfer-encoding") == "chunked"
        length = int(headers.get("content-length", "0"))
        while (size < length) or (chunked and not body[-1].endswith(b"0\r\n\r\n")):
            piece = connection.recv(1024 * 1024)
            if not piece:
                break
            size += len(piece)
            body = [*body, piece] if self._keeps_bodies else [piece]
        return Received(method, target, headers, size, b"".join(body) if self._keeps_bodies else b"")


def response(
    body: bytes | str | dict[str, Any], *, status: str = "200 OK", kind: str = "application/json", **headers: str
) -> bytes:
    """Return a whole response. A dict becomes JSON. Names of headers are written with `_` for `-`."""
    content = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def success(data: object) -> bytes:
    return response({"status": "success", "data": data})


def refusal(status: str, code: str, **headers: str) -> bytes:
    error = {"code": code, "message": "No.", "request_id": "req_1", "details": [{"path": "body/name"}]}
    return response({"status": "error", "error": error}, status=status, **headers)
