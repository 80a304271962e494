"""Runs each test with the client and with the asynchronous client."""

from __future__ import annotations

import asyncio
import inspect
import unittest
from typing import Any, Callable
from unittest import mock

from quartermaster import AsyncQuartermaster, Quartermaster

KEY = "qm_canary-key-3141592653"


class BothClients(unittest.TestCase):
    """Tests call `self.both(…)` or loop over `self.modes()`."""

    def setUp(self) -> None:
        # Delays are counted instead of waited for.
        self.delays: list[float] = []
        for name in ("quartermaster._answers.backoff", "quartermaster._async.connection.asyncio.sleep"):
            patched = mock.patch(name, side_effect=self._backoff if "backoff" in name else self._async_sleep)
            patched.start()
            self.addCleanup(patched.stop)
        patched = mock.patch("time.sleep", side_effect=self.delays.append)
        patched.start()
        self.addCleanup(patched.stop)

    def _backoff(self, attempt: int) -> float:
        return 0.001 * (attempt + 1)

    async def _async_sleep(self, seconds: float) -> None:
        self.delays.append(seconds)

    def both(self, url: str, use: Callable[[Any], Any], **settings: Any) -> list[Any]:
        """Return the result, or the error, of `use` with each client."""
        return [attempt(lambda: self.with_sync(url, use, settings)), attempt(lambda: self.with_async(url, use, settings))]

    def with_sync(self, url: str, use: Callable[[Any], Any], settings: dict[str, Any]) -> Any:
        with Quartermaster(url, KEY, **settings) as client:
            result = use(client)
            return list(result) if hasattr(result, "__iter__") and not isinstance(result, (dict, list, bytes, str)) else result

    def with_async(self, url: str, use: Callable[[Any], Any], settings: dict[str, Any]) -> Any:
        async def run() -> Any:
            async with AsyncQuartermaster(url, KEY, **settings) as client:
                result = use(client)
                if inspect.isawaitable(result):
                    return await result
                return [item async for item in result] if hasattr(result, "__aiter__") else result

        return asyncio.run(run())


def attempt(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        return error
