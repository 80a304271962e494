"""Records."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Literal

from .._call import Call
from ..errors import RecordFailedError
from ..types import (
    Chunk,
    CreateRecordOptions,
    GetPagePictureOptions,
    GetRecordTextOptions,
    ListChunksOfRecordOptions,
    ListRecordRowsOptions,
    ListRecordsOptions,
    RecordItem,
    RecordPreview,
    RecordRow,
    RecordText,
    UpdateRecordOptions,
)
from .connection import AsyncResource
from .paging import AsyncPages
from .waiting import read_events, wait_until_final

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncPendingRecord:
    """A record whose chunks are being created."""

    def __init__(self, records: AsyncRecords, record: RecordItem) -> None:
        self._records = records
        self.data = record
        """The record as the service answered."""

    @property
    def record_id(self) -> str:
        return self.data["record_id"]

    async def wait(self, *, timeout: float = 600.0) -> RecordItem:
        """Wait until the record has ended, and return it. Raise the errors of `records.wait`."""
        return await self._records.wait(self.data["collection_id"], self.record_id, timeout=timeout)

    def __repr__(self) -> str:
        return f"<record {self.record_id}>"


class AsyncRecords(AsyncResource):
    async def create(self, collection_id: str, **body: Unpack[CreateRecordOptions]) -> AsyncPendingRecord:
        """Create a record. Its chunks are created in the background; call `wait()` on the result."""
        call = Call("createRecord", {"collection_id": collection_id}, body=body)
        return AsyncPendingRecord(self, await self._connection.data(call))

    async def preview(self, collection_id: str, **body: Unpack[CreateRecordOptions]) -> RecordPreview:
        """Return the chunks that `create` would create. Nothing is stored."""
        call = Call("createRecord", {"collection_id": collection_id}, query={"dry_run": True}, body=body)
        return await self._connection.data(call)

    def list(self, collection_id: str, **query: Unpack[ListRecordsOptions]) -> AsyncPages[RecordItem]:
        """List records, newest first. `name` selects those whose name contains it."""
        call = Call("listRecords", {"collection_id": collection_id}, query=query)
        return AsyncPages(self._connection, call, "record_id")

    async def get(self, collection_id: str, record_id: str) -> RecordItem:
        """Return a record."""
        return await self._connection.data(Call("getRecord", _path(collection_id, record_id)))

    async def update(
        self, collection_id: str, record_id: str, **body: Unpack[UpdateRecordOptions]
    ) -> AsyncPendingRecord:
        """Change the members that are given. Except for metadata, a change creates the chunks again."""
        call = Call("updateRecord", _path(collection_id, record_id), body=body)
        return AsyncPendingRecord(self, await self._connection.data(call))

    async def delete(self, collection_id: str, record_id: str, *, restorable: bool = False) -> None:
        """Delete a record with its chunks. `restorable` keeps them for 24 hours, so that `restore` brings them back."""
        query = {"restorable": True} if restorable else {}
        await self._connection.json(Call("deleteRecord", _path(collection_id, record_id), query=query))

    async def restore(self, collection_id: str, record_id: str) -> RecordItem:
        """Undo a deletion with `restorable=True` within 24 hours."""
        return await self._connection.data(Call("restoreRecord", _path(collection_id, record_id)))

    async def retry(self, collection_id: str, record_id: str) -> AsyncPendingRecord:
        """Create the chunks again from the same source."""
        call = Call("retryRecord", _path(collection_id, record_id))
        return AsyncPendingRecord(self, await self._connection.data(call))

    async def cancel(self, collection_id: str, record_id: str) -> RecordItem:
        """Stop the processing of a record. A complete record stays unchanged."""
        return await self._connection.data(Call("cancelRecord", _path(collection_id, record_id)))

    async def wait(self, collection_id: str, record_id: str, *, timeout: float = 600.0) -> RecordItem:
        """
        Wait until the record is `ready` or `partial`, and return it. Follow its events, or read its status where events
        do not arrive.

        :param timeout: seconds
        :raises RecordFailedError: when the record ended with an error or is being deleted
        :raises WaitTimeoutError: when it has not ended in time
        """
        path = _path(collection_id, record_id)
        record = await wait_until_final(
            lambda left: self._connection.data(Call("getRecord", path, timeout=min(left, 60.0)), RecordItem),
            _has_ended,
            lambda silence, deadline: read_events(
                self._connection, Call("followRecord", path, timeout=silence, retries=0), deadline
            ),
            timeout,
        )
        if record["status"] not in ("ready", "partial"):
            raise RecordFailedError(record)
        return record

    async def events(self, collection_id: str, record_id: str) -> AsyncIterator[dict[str, Any]]:
        """Yield `status`, `num_chunks`, `progress` and `error` of a record at each change until it has ended."""
        call = Call("followRecord", _path(collection_id, record_id), timeout=60.0)
        async with aclosing(read_events(self._connection, call)) as events:
            async for event in events:
                yield json.loads(event.data)

    async def text(
        self, collection_id: str, record_id: str, **query: Unpack[GetRecordTextOptions]
    ) -> RecordText:
        """Return a part of the extracted text. Offsets count UTF-16 code units."""
        call = Call("getRecordText", _path(collection_id, record_id), query=query)
        return await self._connection.data(call)

    async def page_picture(
        self, collection_id: str, record_id: str, page: int, **query: Unpack[GetPagePictureOptions]
    ) -> bytes:
        """Return a page of a PDF document as a PNG. `chunk_id` marks a passage."""
        path = {**_path(collection_id, record_id), "page": str(page)}
        call = Call("getPagePicture", path, query=query, headers={"Accept": "image/png"})
        return (await self._connection.send(call)).content

    def rows(
        self, collection_id: str, record_id: str, **query: Unpack[ListRecordRowsOptions]
    ) -> AsyncPages[RecordRow]:
        """List the rows of a sheet that were rejected, with the reasons."""
        call = Call("listRecordRows", _path(collection_id, record_id), query=query)
        return AsyncPages(self._connection, call, "row_id")

    async def row_sheet(
        self, collection_id: str, record_id: str, *, status: Literal["rejected", "duplicate"] = "rejected"
    ) -> bytes:
        """Return these rows as a CSV file, to be corrected and uploaded again."""
        query = {"status": status, "format": "csv"}
        response = await self._connection.send(
            Call("listRecordRows", _path(collection_id, record_id), query=query, headers={"Accept": "text/csv"})
        )
        return response.content

    def chunks(
        self, collection_id: str, record_id: str, **query: Unpack[ListChunksOfRecordOptions]
    ) -> AsyncPages[Chunk]:
        """List the chunks of a record in order."""
        call = Call("listChunksOfRecord", _path(collection_id, record_id), query=query)
        return AsyncPages(self._connection, call, "chunk_id")


def _has_ended(record: RecordItem) -> bool:
    return record["status"] != "creating"


def _path(collection_id: str, record_id: str) -> dict[str, str]:
    return {"collection_id": collection_id, "record_id": record_id}
