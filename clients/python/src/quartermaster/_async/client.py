"""The client."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import httpx

from .._configuration import configure
from ..types import QueryChunksOptions, ScoredChunk
from .artifacts import AsyncArtifacts
from .collections import AsyncChunks, AsyncCollections
from .connection import AsyncConnection
from .files import AsyncFiles
from .plugins import AsyncBundles, AsyncConnections, AsyncCredentialProfiles, AsyncPlugins
from .projects import AsyncKeys, AsyncProjects
from .records import AsyncRecords
from .runs import AsyncRuns
from .service import AsyncService

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncQuartermaster:
    """
    A client of one Quartermaster service. It can be used as a context manager; otherwise call `close()`.

    :param base_url: the files address, with the path prefix of a proxy if there is one
    :param api_key: the key of a project; sent to both addresses
    :param plugins_url: the plugins address; default: its mount at the files address
    :param timeout: seconds without progress before a request fails
    :param max_retries: how often a request is sent again after a failure that may pass
    :param http_client: an HTTP client with your settings, such as proxies or certificates; you close it
    :raises ValueError: when a setting is wrong
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        plugins_url: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._configuration = configure(base_url, api_key, plugins_url, timeout, max_retries)
        self._connection = AsyncConnection(self._configuration, http_client)
        self.files = AsyncFiles(self._connection)
        self.collections = AsyncCollections(self._connection)
        self.chunks = AsyncChunks(self._connection)
        self.records = AsyncRecords(self._connection)
        self.runs = AsyncRuns(self._connection)
        self.plugins = AsyncPlugins(self._connection, self.runs)
        self.artifacts = AsyncArtifacts(self._connection)
        self.bundles = AsyncBundles(self._connection)
        self.connections = AsyncConnections(self._connection)
        self.credential_profiles = AsyncCredentialProfiles(self._connection)
        self.projects = AsyncProjects(self._connection)
        self.keys = AsyncKeys(self._connection)
        self.service = AsyncService(self._connection)

    async def search(
        self, collection_id: str | Sequence[str], query_text: str, **options: Unpack[QueryChunksOptions]
    ) -> list[ScoredChunk]:
        """Return the chunks of one or more collections that match the query best, the best first."""
        return await self.collections.search(collection_id, query_text, **options)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def __aenter__(self) -> AsyncQuartermaster:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._configuration.files_url}>"
