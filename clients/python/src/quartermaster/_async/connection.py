"""Sends calls, retries them and reads their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, TypeVar, cast

import httpx

from .._answers import connection_error, read_error, read_json, retry_delay, unreadable
from .._call import Call
from .._configuration import Configuration
from .._uploads import Upload, next_piece
from ..errors import ApiError, QuartermasterError

T = TypeVar("T")

MAX_ERROR_BYTES = 64 * 1024


class AsyncConnection:
    """One HTTP client with the settings of the caller."""

    def __init__(self, configuration: Configuration, http_client: httpx.AsyncClient | None) -> None:
        self._configuration = configuration
        self._is_own = http_client is None
        # The service closes idle connections after 75 seconds by default. Proxies often close them earlier.
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5.0)
        self._http = http_client if http_client is not None else httpx.AsyncClient(limits=limits)

    async def close(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def data(self, call: Call, kind: type[T] | None = None) -> T:
        """Return `data` of the JSON answer. Its type follows from `kind`, or else from what the caller returns."""
        body = await self.json(call)
        if not isinstance(body, dict) or "data" not in body:
            raise unreadable(200, "JSON that is not a response of the service", str(body))
        return cast(T, body["data"])

    async def json(self, call: Call) -> Any:
        """Return the JSON answer. A successful response without a body is `None`."""
        response = await self.send(call)
        return None if response.status_code == 204 else read_json(response)

    async def send(self, call: Call, *, stream: bool = False) -> httpx.Response:
        """Return the successful response. With `stream` its body is not read, and the caller closes it."""
        attempt = 0
        retries = self._configuration.max_retries if call.retries is None else call.retries
        while True:
            try:
                return await self._send_once(call, stream)
            except QuartermasterError as failure:
                failure.idempotency_key = call.idempotency_key
                delay = retry_delay(failure, call, attempt, retries)
                if delay is None:
                    raise
            await asyncio.sleep(delay)
            attempt += 1

    async def _send_once(self, call: Call, stream: bool) -> httpx.Response:
        request = self._build(call)
        failure: QuartermasterError
        try:
            # The arguments replace settings of a given client that would send the key elsewhere.
            response = await self._http.send(request, stream=True, auth=httpx.Auth(), follow_redirects=False)
            if response.is_success:
                if not stream:
                    await _read_and_close(response)
                return response
            failure = await _read_failure(response)
        except httpx.RequestError as error:
            failure = connection_error(error)
        # Raised here, because the cause would hold the request with its credentials.
        raise failure

    def _build(self, call: Call) -> httpx.Request:
        settings = self._configuration
        return self._http.build_request(
            call.operation.method,
            call.url(settings),
            headers=call.all_headers(settings),
            content=call.json_body() if call.upload is None else upload_pieces(call.upload),
            timeout=settings.timeout if call.timeout is None else call.timeout,
        )


class AsyncResource:
    """The operations of one kind of object."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection


async def upload_pieces(upload: Upload) -> AsyncIterator[bytes]:
    pieces = upload.pieces()
    try:
        while True:
            piece = await asyncio.to_thread(next_piece, pieces)
            if piece is None:
                return
            yield piece
    finally:
        pieces.close()


async def _read_and_close(response: httpx.Response) -> None:
    try:
        await response.aread()
    finally:
        await response.aclose()


async def _read_failure(response: httpx.Response) -> ApiError:
    """Read the start of an error. A proxy may send any amount of text."""
    body = b""
    try:
        async for piece in response.aiter_bytes(4096):
            body += piece
            if len(body) >= MAX_ERROR_BYTES:
                break
    except httpx.RequestError:
        pass  # The status alone is an answer.
    finally:
        await response.aclose()
    return read_error(response.status_code, response.headers, body)
