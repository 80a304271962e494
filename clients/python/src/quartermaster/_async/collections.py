"""Collections, their chunks, and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, List

from .._call import Call
from ..types import (
    Chunk,
    Collection,
    CreateCollectionOptions,
    EmbeddingFailure,
    EvaluateCollectionOptions,
    Evaluation,
    ListChunksOptions,
    ListCollectionsOptions,
    ListEmbeddingFailuresOptions,
    PassageBoxes,
    QueryChunksOptions,
    ReembedCollectionOptions,
    ScoredChunk,
    UpdateChunkOptions,
    UpdateCollectionOptions,
)
from .connection import AsyncResource
from .paging import AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncCollections(AsyncResource):
    async def create(self, **body: Unpack[CreateCollectionOptions]) -> Collection:
        """Create a collection of documents (`text`, the default) or of question-answer pairs (`qa`)."""
        return await self._connection.data(Call("createCollection", body=body))

    def list(self, **query: Unpack[ListCollectionsOptions]) -> AsyncPages[Collection]:
        """List collections, newest first. `name` selects those whose name contains it."""
        return AsyncPages(self._connection, Call("listCollections", query=query), "collection_id")

    async def get(self, collection_id: str) -> Collection:
        """Return a collection."""
        call = Call("getCollection", {"collection_id": collection_id})
        return await self._connection.data(call)

    async def update(self, collection_id: str, **body: Unpack[UpdateCollectionOptions]) -> Collection:
        """Change the members that are given. Another `chunking` splits the records again in the background."""
        call = Call("updateCollection", {"collection_id": collection_id}, body=body)
        return await self._connection.data(call)

    async def delete(self, collection_id: str) -> None:
        """Delete a collection with its records and chunks."""
        await self._connection.json(Call("deleteCollection", {"collection_id": collection_id}))

    async def reembed(self, collection_id: str, **query: Unpack[ReembedCollectionOptions]) -> Collection:
        """Build vectors of the first or the named model beside those in use, or return to kept ones.

        With ``dry_run``, nothing changes, and ``embedding_estimate`` states chunks, tokens and cost.
        """
        call = Call("reembedCollection", {"collection_id": collection_id}, query=query)
        return await self._connection.data(call)

    async def evaluate(
        self, collection_id: str, file_id: str, **options: Unpack[EvaluateCollectionOptions]
    ) -> Evaluation:
        """Ask the questions of an uploaded sheet, and return at which places their answers are."""
        call = Call("evaluateCollection", {"collection_id": collection_id}, body={"file_id": file_id, **options})
        return await self._connection.data(call)

    async def last_evaluation(self, collection_id: str) -> Evaluation | None:
        """Return the last evaluation; ``None`` before the first."""
        call = Call("listEvaluations", {"collection_id": collection_id})
        found: list[Evaluation] = await self._connection.data(call)
        return found[0] if found else None

    def embedding_failures(
        self, collection_id: str, **query: Unpack[ListEmbeddingFailuresOptions]
    ) -> AsyncPages[EmbeddingFailure]:
        """List the chunks whose text has failed to be embedded, and why."""
        call = Call("listEmbeddingFailures", {"collection_id": collection_id}, query=query)
        return AsyncPages(self._connection, call, "chunk_id")

    async def retry_embedding_failures(self, collection_id: str) -> Collection:
        """Send the failed texts to the model again, those that it refused included."""
        call = Call("retryEmbeddingFailures", {"collection_id": collection_id})
        return await self._connection.data(call)

    async def search(
        self, collection_id: str | Sequence[str], query_text: str, **options: Unpack[QueryChunksOptions]
    ) -> List[ScoredChunk]:
        """Return the chunks of one or more collections that match the query best, the best first.

        `after` is the id of the last chunk of the previous page. With `expand`, each chunk has up to that many neighbours.
        """
        body: dict[str, object] = {"query_text": query_text, **options}
        if isinstance(collection_id, str):
            call = Call("queryChunks", {"collection_id": collection_id}, body=body)
        else:
            call = Call("queryCollections", body={"collection_ids": list(collection_id), **body})
        return await self._connection.data(call)


class AsyncChunks(AsyncResource):
    async def create(self, collection_id: str, *, content: str, metadata: Mapping[str, Any] | None = None) -> Chunk:
        """Create a chunk that belongs to no record."""
        call = Call("createChunk", {"collection_id": collection_id}, body={"content": content, "metadata": metadata})
        return await self._connection.data(call)

    def list(self, collection_id: str, **query: Unpack[ListChunksOptions]) -> AsyncPages[Chunk]:
        """List the chunks of a collection."""
        call = Call("listChunks", {"collection_id": collection_id}, query=query)
        return AsyncPages(self._connection, call, "chunk_id")

    async def get(self, collection_id: str, chunk_id: str) -> Chunk:
        """Return a chunk."""
        call = Call("getChunk", {"collection_id": collection_id, "chunk_id": chunk_id})
        return await self._connection.data(call)

    async def boxes(self, collection_id: str, chunk_id: str) -> PassageBoxes:
        """Return the places of a chunk on the pages of its PDF document."""
        call = Call("getChunkBoxes", {"collection_id": collection_id, "chunk_id": chunk_id})
        return await self._connection.data(call)

    async def update(self, collection_id: str, chunk_id: str, **body: Unpack[UpdateChunkOptions]) -> Chunk:
        """Change the members that are given."""
        call = Call("updateChunk", {"collection_id": collection_id, "chunk_id": chunk_id}, body=body)
        return await self._connection.data(call)

    async def delete(self, collection_id: str, chunk_id: str) -> None:
        """Delete a chunk."""
        await self._connection.json(Call("deleteChunk", {"collection_id": collection_id, "chunk_id": chunk_id}))
