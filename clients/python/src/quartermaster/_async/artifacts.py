"""Media and large outputs of plugins."""

from __future__ import annotations

import os

from .._answers import read_signature
from .._call import Call
from ..types import Artifact
from .connection import AsyncResource
from .downloads import range_header, save_content


class AsyncArtifacts(AsyncResource):
    async def get(self, artifact_id: str) -> Artifact:
        """Return an artifact. Its `file_url` downloads the content without a key until it expires."""
        return await self._connection.data(Call("getArtifact", {"artifact_id": artifact_id}))

    async def content(self, artifact_id: str, *, byte_range: tuple[int, int] | None = None) -> bytes:
        """
        Return the content, or the bytes from the first to the last of `byte_range`, both included.

        The request goes to the address of the client, also when `file_url` names another one.
        """
        query = read_signature(await self.get(artifact_id))
        headers = range_header(byte_range)
        call = Call("getArtifactContent", {"artifact_id": artifact_id}, query, headers=headers)
        return (await self._connection.send(call)).content

    async def download(self, artifact_id: str, path: str | os.PathLike[str]) -> int:
        """
        Write the content to `path` and return its size. Nothing is at `path` until the content is complete.

        The request goes to the address of the client, also when `file_url` names another one.
        """
        query = read_signature(await self.get(artifact_id))
        call = Call("getArtifactContent", {"artifact_id": artifact_id}, query)
        return await save_content(self._connection, call, path)

    async def delete(self, artifact_id: str) -> None:
        """Delete an artifact and its content."""
        await self._connection.json(Call("deleteArtifact", {"artifact_id": artifact_id}))
