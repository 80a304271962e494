"""Runs of plugins."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from .._call import Call
from ..errors import RunFailedError
from ..types import ExecuteResult, ListRunsOptions, Run, RunItem
from .connection import AsyncResource
from .paging import AsyncPages
from .waiting import read_events, wait_until_final

if TYPE_CHECKING:
    from typing_extensions import Unpack


class RunEvent(NamedTuple):
    """A change of a run. Pass `id` as `last_event_id` to continue after this event."""

    id: str | None
    kind: str
    """`state` or `progress`."""
    data: dict[str, Any]


class AsyncPendingRun:
    """A run that was started in the background."""

    def __init__(self, runs: AsyncRuns, run: Run) -> None:
        self._runs = runs
        self.data = run
        """The run as the service answered."""

    @property
    def run_id(self) -> str:
        return self.data["run_id"]

    async def wait(self, *, timeout: float = 600.0) -> ExecuteResult:
        """Wait until the run has ended, and return its result. Raise the errors of `runs.wait`."""
        return await self._runs.wait(self.run_id, timeout=timeout)

    def __repr__(self) -> str:
        return f"<run {self.run_id}>"


class AsyncRuns(AsyncResource):
    def list(self, **query: Unpack[ListRunsOptions]) -> AsyncPages[RunItem]:
        """List runs, newest first. `since` is in milliseconds since 1970; the outcome `none` selects runs that continue."""
        return AsyncPages(self._connection, Call("listRuns", query=query), "run_id")

    async def get(self, run_id: str) -> Run:
        """Return a run. An asynchronous run includes its result or error."""
        return await self._connection.data(Call("getRun", {"run_id": run_id}))

    async def cancel(self, run_id: str) -> Run:
        """Cancel a run. A run that has ended does not change."""
        return await self._connection.data(Call("cancelRun", {"run_id": run_id}))

    async def events(self, run_id: str, *, last_event_id: str | None = None) -> AsyncIterator[RunEvent]:
        """Yield the state of a run and each change until it has ended."""
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        call = Call("followRun", {"run_id": run_id}, headers=headers, timeout=60.0)
        async with aclosing(read_events(self._connection, call)) as events:
            async for event in events:
                yield RunEvent(event.id, event.name, json.loads(event.data))

    async def wait(self, run_id: str, *, timeout: float = 600.0) -> ExecuteResult:
        """
        Wait until a run in the background has ended, and return its result.

        :param timeout: seconds
        :raises RunFailedError: when the outcome is another than `succeeded`, or the result is no longer stored
        :raises WaitTimeoutError: when it has not ended in time
        """
        path = {"run_id": run_id}
        run = await wait_until_final(
            lambda left: self._connection.data(Call("getRun", path, timeout=min(left, 60.0)), Run),
            _has_ended,
            lambda silence, deadline: read_events(
                self._connection, Call("followRun", path, timeout=silence, retries=0), deadline
            ),
            timeout,
        )
        if run["outcome"] != "succeeded" or run["result"] is None:
            raise RunFailedError(run)
        return run["result"]


def _has_ended(run: Run) -> bool:
    return run["status"] == "ended"
