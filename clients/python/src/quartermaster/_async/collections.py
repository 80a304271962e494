"""Collections, their chunks, and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, List, Literal

from .._call import Call
from ..types import (
    Chunk,
    Chunking,
    Collection,
    EmbeddingFailure,
    MetadataFilter,
    PassageBoxes,
    RankingWeights,
    RetrievalDefaults,
    ScoredChunk,
)
from .connection import AsyncConnection
from .paging import AsyncPages


class AsyncCollections:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def create(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        type: Literal["text", "qa"] | None = None,
        capacity: int | None = None,
        embedding_model_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        retrieval: RetrievalDefaults | None = None,
        chunking: Chunking | None = None,
    ) -> Collection:
        """Create a collection of documents (`text`, the default) or of question-answer pairs (`qa`)."""
        body = {
            "name": name,
            "description": description,
            "type": type,
            "capacity": capacity,
            "embedding_model_id": embedding_model_id,
            "metadata": metadata,
            "retrieval": retrieval,
            "chunking": chunking,
        }
        collection: Collection = await self._connection.data(Call("createCollection", body=body))
        return collection

    def list(
        self,
        *,
        name: str | None = None,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
        count: bool | None = None,
    ) -> AsyncPages[Collection]:
        """List collections, newest first. `name` selects those whose name contains it."""
        query = {"name": name, "limit": limit, "order": order, "after": after, "before": before, "count": count}
        return AsyncPages(self._connection, Call("listCollections", query=query), "collection_id")

    async def get(self, collection_id: str) -> Collection:
        """Return a collection."""
        call = Call("getCollection", {"collection_id": collection_id})
        collection: Collection = await self._connection.data(call)
        return collection

    async def update(
        self,
        collection_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        retrieval: RetrievalDefaults | None = None,
        embedding_paused: bool | None = None,
        chunking: Chunking | None = None,
    ) -> Collection:
        """Change the members that are given. Another `chunking` splits the records again in the background."""
        body = {
            "name": name,
            "description": description,
            "metadata": metadata,
            "retrieval": retrieval,
            "embedding_paused": embedding_paused,
            "chunking": chunking,
        }
        call = Call("updateCollection", {"collection_id": collection_id}, body=body)
        collection: Collection = await self._connection.data(call)
        return collection

    async def delete(self, collection_id: str) -> None:
        """Delete a collection with its records and chunks."""
        await self._connection.json(Call("deleteCollection", {"collection_id": collection_id}))

    async def reembed(
        self,
        collection_id: str,
        *,
        embedding_model_id: str | None = None,
        dry_run: bool | None = None,
    ) -> Collection:
        """Build vectors of the first or the named model beside those in use, or return to kept ones.

        With ``dry_run``, nothing changes, and ``embedding_estimate`` states chunks, tokens and cost.
        """
        query = {"embedding_model_id": embedding_model_id, "dry_run": dry_run}
        call = Call("reembedCollection", {"collection_id": collection_id}, query=query)
        collection: Collection = await self._connection.data(call)
        return collection

    def embedding_failures(
        self,
        collection_id: str,
        *,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
        count: bool | None = None,
    ) -> AsyncPages[EmbeddingFailure]:
        """List the chunks whose text has failed to be embedded, and why."""
        query = {"limit": limit, "order": order, "after": after, "before": before, "count": count}
        call = Call("listEmbeddingFailures", {"collection_id": collection_id}, query=query)
        return AsyncPages(self._connection, call, "chunk_id")

    async def retry_embedding_failures(self, collection_id: str) -> Collection:
        """Send the failed texts to the model again, those that it refused included."""
        call = Call("retryEmbeddingFailures", {"collection_id": collection_id})
        collection: Collection = await self._connection.data(call)
        return collection

    async def search(
        self,
        collection_id: str | Sequence[str],
        query_text: str,
        *,
        top_k: int | None = None,
        after: str | None = None,
        max_tokens: int | None = None,
        score_threshold: float | None = None,
        filters: MetadataFilter | None = None,
        expand: int | None = None,
        rerank: bool | None = None,
        explain: bool | None = None,
        rerank_model_id: str | None = None,
        mode: Literal["words", "vectors", "fused"] | None = None,
        weights: RankingWeights | None = None,
        min_similarity: float | None = None,
    ) -> List[ScoredChunk]:
        """Return the chunks of one or more collections that match the query best, the best first.

        `after` is the id of the last chunk of the previous page. With `expand`, each chunk has up to that many neighbours.
        """
        body = {
            "query_text": query_text,
            "top_k": top_k,
            "after": after,
            "max_tokens": max_tokens,
            "score_threshold": score_threshold,
            "filters": filters,
            "expand": expand,
            "rerank": rerank,
            "explain": explain,
            "rerank_model_id": rerank_model_id,
            "mode": mode,
            "weights": weights,
            "min_similarity": min_similarity,
        }
        if isinstance(collection_id, str):
            call = Call("queryChunks", {"collection_id": collection_id}, body=body)
        else:
            call = Call("queryCollections", body={"collection_ids": list(collection_id), **body})
        chunks: List[ScoredChunk] = await self._connection.data(call)
        return chunks


class AsyncChunks:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def create(self, collection_id: str, *, content: str, metadata: Mapping[str, Any] | None = None) -> Chunk:
        """Create a chunk that belongs to no record."""
        call = Call("createChunk", {"collection_id": collection_id}, body={"content": content, "metadata": metadata})
        chunk: Chunk = await self._connection.data(call)
        return chunk

    def list(
        self,
        collection_id: str,
        *,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        after: str | None = None,
        before: str | None = None,
        count: bool | None = None,
    ) -> AsyncPages[Chunk]:
        """List the chunks of a collection."""
        query = {"limit": limit, "order": order, "after": after, "before": before, "count": count}
        call = Call("listChunks", {"collection_id": collection_id}, query=query)
        return AsyncPages(self._connection, call, "chunk_id")

    async def get(self, collection_id: str, chunk_id: str) -> Chunk:
        """Return a chunk."""
        call = Call("getChunk", {"collection_id": collection_id, "chunk_id": chunk_id})
        chunk: Chunk = await self._connection.data(call)
        return chunk

    async def boxes(self, collection_id: str, chunk_id: str) -> PassageBoxes:
        """Return the places of a chunk on the pages of its PDF document."""
        call = Call("getChunkBoxes", {"collection_id": collection_id, "chunk_id": chunk_id})
        boxes: PassageBoxes = await self._connection.data(call)
        return boxes

    async def update(
        self,
        collection_id: str,
        chunk_id: str,
        *,
        content: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Chunk:
        """Change the members that are given."""
        path = {"collection_id": collection_id, "chunk_id": chunk_id}
        call = Call("updateChunk", path, body={"content": content, "metadata": metadata})
        chunk: Chunk = await self._connection.data(call)
        return chunk

    async def delete(self, collection_id: str, chunk_id: str) -> None:
        """Delete a chunk."""
        await self._connection.json(Call("deleteChunk", {"collection_id": collection_id, "chunk_id": chunk_id}))
