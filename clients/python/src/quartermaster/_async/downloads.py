"""Writes the content of a response to a file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import uuid
from pathlib import Path

import httpx

from .._answers import check_hash, connection_error
from .._call import Call
from .connection import AsyncConnection


async def save_content(connection: AsyncConnection, call: Call, path: str | os.PathLike[str]) -> int:
    """
    Write the content to `path` and return its size. Nothing is at `path` until the content is complete and has the SHA-256 that
    the service names.
    """
    response = await connection.send(call, stream=True)
    digest = hashlib.sha256()
    target = Path(path)
    partial = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with partial.open("xb") as handle:
            async for piece in response.aiter_bytes(256 * 1024):
                digest.update(piece)
                await asyncio.to_thread(handle.write, piece)
            size = handle.tell()
        check_hash(response.headers.get("etag"), digest.hexdigest())
        partial.replace(target)
        return size
    except httpx.RequestError as error:
        failure = connection_error(error)
    finally:
        await response.aclose()
        partial.unlink(missing_ok=True)
    raise failure


def range_header(byte_range: tuple[int, int] | None) -> dict[str, str]:
    """Return the header that asks for the bytes from the first to the last, both included."""
    return {} if byte_range is None else {"Range": f"bytes={byte_range[0]}-{byte_range[1]}"}
