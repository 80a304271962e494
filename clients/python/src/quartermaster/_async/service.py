"""The state of the service."""

from __future__ import annotations

from typing import Any, Literal

from .._call import Call
from .connection import AsyncResource

Address = Literal["files", "plugins"]


class AsyncService(AsyncResource):
    async def version(self, *, address: Address = "files") -> str:
        """Return the version of the service."""
        data = await self._connection.data(Call("getVersion", address=address), dict[str, str])
        return data["version"]

    async def health(self, *, address: Address = "files") -> None:
        """Check that the process is alive. Raise an error when it is not."""
        await self._connection.json(Call("getHealth", address=address))

    async def readiness(self, *, verbose: bool | None = None, address: Address = "files") -> dict[str, Any]:
        """Check that requests can be served. Raise `ServerError` when they cannot. With `verbose` list problems."""
        query = {"verbose": "1" if verbose else None}
        answer: dict[str, Any] = await self._connection.json(Call("getReadiness", query=query, address=address, retries=0))
        return answer

    async def metrics(self, *, address: Address = "files") -> str:
        """Return the metrics in the Prometheus text format. This needs a key with the scope `metrics`."""
        return (await self._connection.send(Call("getMetrics", headers={"Accept": "*/*"}, address=address))).text

    async def openapi(self, *, address: Address = "files") -> dict[str, Any]:
        """Return the OpenAPI document of an address."""
        document: dict[str, Any] = await self._connection.json(Call("getOpenApi", address=address))
        return document
