"""Projects and their API keys. These calls need a key with the scope `admin`."""

from __future__ import annotations

from typing import List, Literal

from .._call import Call
from ..types import ApiKey, NewApiKey, Project
from .connection import AsyncConnection
from .paging import AsyncPages

Scope = Literal["files", "collections", "plugins", "metrics", "admin"]


class AsyncProjects:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
        count: bool | None = None,
    ) -> AsyncPages[Project]:
        """List projects."""
        query = {"limit": limit, "order": order, "after": after, "before": before, "count": count}
        return AsyncPages(self._connection, Call("listProjects", query=query), "project_id")


class AsyncKeys:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(
        self,
        project_id: str,
        *,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
        count: bool | None = None,
    ) -> AsyncPages[ApiKey]:
        """List the API keys of a project without their secrets."""
        query = {"limit": limit, "order": order, "after": after, "before": before, "count": count}
        return AsyncPages(self._connection, Call("listKeys", {"project_id": project_id}, query=query), "key_id")

    async def create(
        self,
        project_id: str,
        *,
        name: str,
        scopes: List[Scope] | None = None,
        expires_timestamp: int | None = None,
        tools: List[str] | None = None,
    ) -> NewApiKey:
        """
        Create an API key. Only this answer contains the key itself.

        :param tools: the only plugins that it may run: `bundle_id` or `bundle_id/plugin_id`
        """
        body = {"name": name, "scopes": scopes, "expires_timestamp": expires_timestamp, "tools": tools}
        key: NewApiKey = await self._connection.data(Call("createKey", {"project_id": project_id}, body=body))
        return key

    async def rotate(self, project_id: str, key_id: str, *, overlap_seconds: int | None = None) -> NewApiKey:
        """Replace a key. The old one stays valid for `overlap_seconds`."""
        path = {"project_id": project_id, "key_id": key_id}
        call = Call("rotateKey", path, body={"overlap_seconds": overlap_seconds})
        key: NewApiKey = await self._connection.data(call)
        return key

    async def revoke(self, project_id: str, key_id: str, *, descendants: bool | None = None) -> None:
        """Revoke a key, with `descendants` also the keys that were created with it."""
        path = {"project_id": project_id, "key_id": key_id}
        await self._connection.json(Call("revokeKey", path, query={"descendants": descendants}))
