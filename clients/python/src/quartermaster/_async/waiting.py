"""Waits for records and runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from time import monotonic
from typing import TypeVar

import httpx

from .._answers import connection_error, unreadable
from .._call import Call
from .._events import EventReader, ServerEvent
from ..errors import ApiConnectionError, ApiError, QuartermasterError, WaitTimeoutError
from .connection import AsyncConnection

T = TypeVar("T")

FIRST_PAUSE = 0.5
MAX_PAUSE = 5.0
SILENCE = 45.0
"""Seconds without a byte after which a stream counts as held back by a proxy. The service sends a comment every 15."""


async def read_events(
    connection: AsyncConnection, call: Call, deadline: float | None = None
) -> AsyncGenerator[ServerEvent, None]:
    """Yield the events of a stream until the deadline. Raise `ApiConnectionError` when it breaks."""
    response = await connection.send(call, stream=True)
    reader = EventReader()
    try:
        if response.status_code == 204:
            return
        kind = response.headers.get("content-type", "no content type")
        if not kind.startswith("text/event-stream"):
            raise unreadable(response.status_code, f"a body that is no event stream ({kind})", "")
        async for piece in response.aiter_bytes():
            for event in reader.feed(piece):
                yield event
            if deadline is not None and monotonic() >= deadline:
                return
    except httpx.RequestError as error:
        failure = connection_error(error)
    except ValueError as error:
        raise unreadable(response.status_code, "a wrong event stream", str(error)) from None
    else:
        return
    finally:
        await response.aclose()
    raise failure


async def wait_until_final(
    read: Callable[[float], Awaitable[T]],
    is_final: Callable[[T], bool],
    follow: Callable[[float, float], AsyncGenerator[ServerEvent, None]],
    timeout: float,
) -> T:
    """
    Return the final state. Between two reads, follow the events where they arrive, else pause. Failures that may pass do
    not end the wait.

    :param read: returns the state; takes the seconds that are left
    :param follow: yields events until the end; takes the seconds that it may stay silent, and the deadline
    :raises WaitTimeoutError: when the timeout has passed first
    """
    deadline = monotonic() + timeout
    pause = FIRST_PAUSE
    has_events = True
    last: QuartermasterError | None = None
    while True:
        left = deadline - monotonic()
        try:
            state = await read(max(left, 1.0))
            if is_final(state):
                return state
            last = None
        except QuartermasterError as error:
            if not _may_pass(error):
                raise
            last = error
        if has_events and last is None and left > 0:
            has_events = await _follow(follow, deadline)
        left = deadline - monotonic()
        if left <= 0:
            raise WaitTimeoutError(f"Not ended after {timeout:g} seconds.") from last
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, MAX_PAUSE)


async def _follow(follow: Callable[[float, float], AsyncGenerator[ServerEvent, None]], deadline: float) -> bool:
    """Read events until they end or the deadline passes. Return whether following them again is useful."""
    silence = min(SILENCE, max(deadline - monotonic(), 1.0))
    try:
        async with aclosing(follow(silence, deadline)) as events:
            async for _ in events:
                pass
    except QuartermasterError as error:
        # A stream that stays silent is held back by a proxy. Without a free stream the service answers 429.
        return isinstance(error, ApiConnectionError) and not isinstance(error, TimeoutError)
    return True


def _may_pass(error: QuartermasterError) -> bool:
    if isinstance(error, ApiError):
        return error.status in (408, 429, 502, 503, 504)
    return isinstance(error, ApiConnectionError)
