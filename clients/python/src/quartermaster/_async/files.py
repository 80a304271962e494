"""Files."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path
from typing import Literal

import httpx

from .._answers import connection_error
from .._call import Call
from .._uploads import Progress, Source, Upload
from ..types import File, FileWithReferences, Limits, PurposeName
from .connection import AsyncConnection
from .paging import AsyncPages


class AsyncFiles:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def upload(
        self,
        file: Source,
        *,
        purpose: PurposeName | None = None,
        name: str | None = None,
        idempotency_key: str | None = None,
        on_progress: Progress | None = None,
        timeout: float | None = None,
    ) -> File:
        """
        Upload a file and return it.

        :param file: a path, the bytes, or a handle opened in binary mode, which is read from its position
        :param purpose: default: `qa_record_file` for `.csv` and `.xlsx`, else `record_file`
        :param name: the file name with its extension; default: the name of the path or handle
        :param on_progress: called with the bytes sent and the size, or `None` when the size is unknown
        :param timeout: seconds without progress
        """
        upload = Upload(file, name=name, purpose=purpose, on_progress=on_progress)
        call = Call("uploadFile", upload=upload, idempotency_key=idempotency_key, timeout=timeout)
        stored: File = await self._connection.data(call)
        return stored

    def list(
        self,
        *,
        purpose: PurposeName | None = None,
        name: str | None = None,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
    ) -> AsyncPages[File]:
        """List files, newest first. `name` selects files whose name contains it."""
        query = {"purpose": purpose, "name": name, "limit": limit, "order": order, "after": after, "before": before}
        return AsyncPages(self._connection, Call("listFiles", query=query), "file_id")

    async def get(self, file_id: str) -> FileWithReferences:
        """Return a file with the records that were created from it."""
        file: FileWithReferences = await self._connection.data(Call("getFile", {"file_id": file_id}))
        return file

    async def delete(self, file_id: str) -> None:
        """Delete a file. Records keep their text."""
        await self._connection.json(Call("deleteFile", {"file_id": file_id}))

    async def content(self, file_id: str, *, byte_range: tuple[int, int] | None = None) -> bytes:
        """Return the content, or the bytes from the first to the last of `byte_range`, both included."""
        headers = {} if byte_range is None else {"Range": f"bytes={byte_range[0]}-{byte_range[1]}"}
        response = await self._connection.send(Call("getFileContent", {"file_id": file_id}, headers=headers))
        return response.content

    async def download(self, file_id: str, path: str | os.PathLike[str]) -> int:
        """Write the content to `path` and return its size. Nothing is at `path` until the content is complete."""
        response = await self._connection.send(Call("getFileContent", {"file_id": file_id}), stream=True)
        target = Path(path)
        partial = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            with partial.open("xb") as handle:
                async for piece in response.aiter_bytes(256 * 1024):
                    await asyncio.to_thread(handle.write, piece)
                size = handle.tell()
            partial.replace(target)
            return size
        except httpx.RequestError as error:
            failure = connection_error(error)
        finally:
            await response.aclose()
            partial.unlink(missing_ok=True)
        raise failure

    async def limits(self) -> Limits:
        """Return the limits of the service and the remaining quota of the project."""
        limits: Limits = await self._connection.data(Call("getLimits"))
        return limits
