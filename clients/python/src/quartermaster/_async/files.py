"""Files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._call import Call
from .._uploads import Progress, Source, Upload
from ..types import File, FileWithReferences, Limits, ListFilesOptions, PurposeName
from .connection import AsyncResource
from .downloads import range_header, save_content
from .paging import AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncFiles(AsyncResource):
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
        :param purpose: default: by the extension, `qa_record_file` for `.csv` and `.xlsx`
        :param name: the file name with its extension; default: the name of the path or handle
        :param on_progress: called with the bytes sent and the size, or `None` when the size is unknown
        :param timeout: seconds without progress
        """
        upload = Upload(file, name=name, purpose=purpose, on_progress=on_progress)
        call = Call("uploadFile", upload=upload, idempotency_key=idempotency_key, timeout=timeout)
        return await self._connection.data(call)

    def list(self, **query: Unpack[ListFilesOptions]) -> AsyncPages[File]:
        """List files, newest first."""
        return AsyncPages(self._connection, Call("listFiles", query=query), "file_id")

    async def get(self, file_id: str) -> FileWithReferences:
        """Return a file with the records that were created from it."""
        return await self._connection.data(Call("getFile", {"file_id": file_id}))

    async def delete(self, file_id: str) -> None:
        """Delete a file. Records keep their text."""
        await self._connection.json(Call("deleteFile", {"file_id": file_id}))

    async def content(self, file_id: str, *, byte_range: tuple[int, int] | None = None) -> bytes:
        """Return the content, or the bytes from the first to the last of `byte_range`, both included."""
        call = Call("getFileContent", {"file_id": file_id}, headers=range_header(byte_range))
        return (await self._connection.send(call)).content

    async def download(self, file_id: str, path: str | os.PathLike[str]) -> int:
        """Write the content to `path` and return its size. Nothing is at `path` until the content is complete."""
        return await save_content(self._connection, Call("getFileContent", {"file_id": file_id}), path)

    async def limits(self) -> Limits:
        """Return the limits of the service and the remaining quota of the project."""
        return await self._connection.data(Call("getLimits"))
