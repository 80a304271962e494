"""Lists that continue over pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

from .._answers import unreadable
from .._call import Call
from .connection import AsyncConnection

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list."""

    data: list[T]
    has_more: bool
    """Whether further items follow."""
    total_count: int | None = None
    """With `count=True`: the number of items on all pages."""
    total_count_is_exact: bool | None = None
    """With `count=True`: whether the list has exactly `total_count` items; otherwise it has at least as many."""


class AsyncPages(Generic[T]):
    """A list. Iterate over it to read all items; only one page is in memory at a time. `page()` reads the first page."""

    def __init__(self, connection: AsyncConnection, call: Call, *id_names: str) -> None:
        """:param id_names: the members of an item whose values, joined by "/", are its cursor"""
        self._connection = connection
        self._call = call
        self._id_names = id_names

    async def page(self) -> Page[T]:
        """Return the first page. Pass `after` to the list to read a later one."""
        return await self._read(self._call)

    async def __aiter__(self) -> AsyncIterator[T]:
        query = {name: value for name, value in self._call.query.items() if name != "count"}
        backwards = query.get("before") is not None
        seen: object = None
        while True:
            page = await self._read(replace(self._call, query=query))
            for item in page.data:
                yield item
            if not page.has_more or not page.data:
                return
            edge = page.data[0 if backwards else -1]
            cursor = "/".join(cast("dict[str, str]", edge)[name] for name in self._id_names)
            if cursor == seen:
                raise unreadable(200, "the same page twice", f"{self._id_names[-1]} {cursor}")
            seen = cursor
            query["before" if backwards else "after"] = cursor

    async def _read(self, call: Call) -> Page[T]:
        body = await self._connection.json(call)
        try:
            data, has_more = body["data"], bool(body["has_more"])
            total_count, is_exact = body.get("total_count"), body.get("total_count_is_exact")
            if not isinstance(data, list):
                raise TypeError
        except (KeyError, TypeError):
            raise unreadable(200, "JSON that is not a list of the service", str(body)) from None
        return Page(data, has_more, total_count, is_exact)
