"""Multipart bodies of uploads. Files are read in pieces, so that memory use does not depend on their size."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, Union

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes]]
"""A path, the bytes themselves, or a handle that was opened in binary mode."""
Progress = Callable[[int, Union[int, None]], None]
"""Called with the bytes sent and the size of the file, or `None` when the size is unknown."""

PIECE_BYTES = 256 * 1024


class Upload:
    """The body of one upload. `pieces()` begins again each time when `can_replay` is true."""

    def __init__(self, source: Source, *, name: str | None, purpose: str | None, on_progress: Progress | None) -> None:
        self._open, self._size, self.can_replay, found_name = _inspect(source)
        file_name = name or found_name
        if not file_name:
            raise ValueError("name is missing. Pass the file name with its extension, such as name='report.pdf'.")
        chosen = purpose or default_purpose(file_name)
        self._on_progress = on_progress
        self._boundary = f"quartermaster-{uuid.uuid4().hex}"
        self._head = (
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n{chosen}\r\n'
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="file"; filename="{_quote_name(file_name)}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode()
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()

    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": f"multipart/form-data; boundary={self._boundary}"}
        if self._size is not None:
            headers["Content-Length"] = str(len(self._head) + self._size + len(self._tail))
        return headers

    def pieces(self) -> Generator[bytes, None, None]:
        yield self._head
        handle, must_close = self._open()
        sent = 0
        try:
            while self._size is None or sent < self._size:
                most = PIECE_BYTES if self._size is None else min(PIECE_BYTES, self._size - sent)
                piece = handle.read(most)
                if not isinstance(piece, bytes):
                    raise TypeError("The handle must be opened in binary mode.")
                if not piece:
                    break
                sent += len(piece)
                yield piece
                if self._on_progress is not None:
                    self._on_progress(sent, self._size)
        finally:
            if must_close:
                handle.close()
        if self._size is not None and sent < self._size:
            raise ValueError(f"The file became shorter while it was sent: {sent} of {self._size} bytes.")
        if self._size is None and sent == 0:
            raise ValueError("The handle is at its end: there is nothing to send.")
        yield self._tail


def default_purpose(file_name: str) -> str:
    """Return the first purpose of the service that accepts the extension."""
    lower = file_name.lower()
    if lower.endswith((".csv", ".xlsx")):
        return "qa_record_file"
    is_interface_format = lower.endswith((".txt", ".pdf", ".docx", ".md", ".html", ".htm"))
    return "record_file" if is_interface_format else "document_file"


def next_piece(pieces: Generator[bytes, None, None]) -> bytes | None:
    """Return the next piece, or `None` at the end."""
    return next(pieces, None)


Opened = tuple[IO[bytes], bool]


def _inspect(source: Source) -> tuple[Callable[[], Opened], int | None, bool, str | None]:
    """Return how to open the source, its size, whether it can be read again, and its name."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        content = bytes(source)
        return lambda: (io.BytesIO(content), True), len(content), True, None
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return lambda: (path.open("rb"), True), path.stat().st_size, True, path.name
    if isinstance(source, io.TextIOBase):
        raise TypeError("The handle must be opened in binary mode.")
    if not hasattr(source, "read"):
        raise TypeError(f"file must be a path, bytes or a binary handle; received {type(source).__name__}.")
    return _inspect_handle(source)


def _inspect_handle(handle: IO[bytes]) -> tuple[Callable[[], Opened], int | None, bool, str | None]:
    label = getattr(handle, "name", None)
    name = Path(label).name if isinstance(label, str) else None
    if not (hasattr(handle, "seekable") and handle.seekable()):
        return lambda: (handle, False), None, False, name
    start = handle.tell()
    end = handle.seek(0, os.SEEK_END)
    handle.seek(start)
    if start >= end and end > 0:
        raise ValueError("The handle is at its end: there is nothing to send. Call seek(0) first.")

    def rewind() -> Opened:
        handle.seek(start)
        return handle, False

    return rewind, end - start, True, name


def _quote_name(name: str) -> str:
    """Quote a file name as browsers do."""
    if name in (".", ".."):
        raise ValueError(f"name must be a file name; received {name!r}.")
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
