"""Server-sent events."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

MAX_EVENT_CHARACTERS = 16 * 1024 * 1024


class ServerEvent(NamedTuple):
    id: str | None
    name: str
    data: str


class EventReader:
    """Turns the bytes of an event stream into events. An event that is cut off is dropped."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []
        self._name = ""
        self._id: str | None = None
        self._size = 0

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Return the events that this piece completes. Raise `ValueError` when an event is too large."""
        text = self._rest + self._decoder.decode(piece)
        # A CR at the end may be the first half of a CRLF.
        held = "\r" if text.endswith("\r") else ""
        *lines, last = re.split(r"\r\n|\r|\n", text[: len(text) - len(held)])
        self._rest = last + held
        events = [event for line in lines if (event := self._read_line(line)) is not None]
        if len(self._rest) + self._size > MAX_EVENT_CHARACTERS:
            raise ValueError("The event stream contains an event that is too large.")
        return events

    def _read_line(self, line: str) -> ServerEvent | None:
        if line == "":
            event = ServerEvent(self._id, self._name or "message", "\n".join(self._data)) if self._data else None
            self._data, self._name, self._size = [], "", 0
            return event
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            self._data.append(value)
            self._size += len(value)
        elif field == "event":
            self._name = value
        elif field == "id" and "\0" not in value:
            self._id = value
        return None
