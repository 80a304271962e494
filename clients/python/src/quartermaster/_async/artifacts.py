"""Media and large outputs of plugins."""

from __future__ import annotations

from .._call import Call
from ..types import Artifact
from .connection import AsyncConnection


class AsyncArtifacts:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def get(self, artifact_id: str) -> Artifact:
        """Return an artifact. Its `file_url` downloads the content without a key until it expires."""
        artifact: Artifact = await self._connection.data(Call("getArtifact", {"artifact_id": artifact_id}))
        return artifact

    async def delete(self, artifact_id: str) -> None:
        """Delete an artifact and its content."""
        await self._connection.json(Call("deleteArtifact", {"artifact_id": artifact_id}))
