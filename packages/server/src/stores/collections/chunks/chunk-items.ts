import type { Chunk } from '@quartermaster/contract';
import type { StoredChunk } from './chunk-repository.ts';

/** Brings a chunk into the format of the API, with the names of its record. */
export function toChunkItem(chunk: StoredChunk): Chunk {
  return {
    chunk_id: chunk.id,
    record_id: chunk.recordId,
    collection_id: chunk.collectionId,
    title: chunk.record?.title ?? null,
    file_id: chunk.record?.fileId ?? null,
    file_name: chunk.record?.fileName ?? null,
    url: chunk.record?.url ?? null,
    content: chunk.content,
    ...(chunk.question === null ? {} : { question: chunk.question }),
    ...(chunk.answer === null ? {} : { answer: chunk.answer }),
    num_tokens: chunk.numTokens,
    metadata: chunk.metadata,
    locator: chunk.locator,
    updated_timestamp: chunk.updatedAt,
    created_timestamp: chunk.createdAt,
  };
}
