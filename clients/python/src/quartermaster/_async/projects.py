"""Projects and their API keys. All calls except `keys.own` need a key with the scope `admin`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._call import Call
from ..types import ApiKey, CreateKeyOptions, ListKeysOptions, ListProjectsOptions, NewApiKey, Project
from .connection import AsyncResource
from .paging import AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncProjects(AsyncResource):
    def list(self, **query: Unpack[ListProjectsOptions]) -> AsyncPages[Project]:
        """List projects."""
        return AsyncPages(self._connection, Call("listProjects", query=query), "project_id")


class AsyncKeys(AsyncResource):
    async def own(self) -> ApiKey:
        """Get the key of this client, with what it may do."""
        return await self._connection.data(Call("getOwnKey"))

    def list(self, project_id: str, **query: Unpack[ListKeysOptions]) -> AsyncPages[ApiKey]:
        """List the API keys of a project without their secrets."""
        return AsyncPages(self._connection, Call("listKeys", {"project_id": project_id}, query=query), "key_id")

    async def create(self, project_id: str, *, name: str, **options: Unpack[CreateKeyOptions]) -> NewApiKey:
        """Create an API key. Only this answer contains the key itself."""
        call = Call("createKey", {"project_id": project_id}, body={"name": name, **options})
        return await self._connection.data(call)

    async def rotate(self, project_id: str, key_id: str, *, overlap_seconds: int | None = None) -> NewApiKey:
        """Replace a key. The old one stays valid for `overlap_seconds`."""
        path = {"project_id": project_id, "key_id": key_id}
        call = Call("rotateKey", path, body={"overlap_seconds": overlap_seconds})
        return await self._connection.data(call)

    async def revoke(self, project_id: str, key_id: str, *, descendants: bool | None = None) -> None:
        """Revoke a key, with `descendants` also the keys that were created with it."""
        path = {"project_id": project_id, "key_id": key_id}
        await self._connection.json(Call("revokeKey", path, query={"descendants": descendants}))
