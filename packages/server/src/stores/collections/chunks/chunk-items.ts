import type { Chunk } from '@quartermaster/contract';
import type { NamedRecord } from '../records/record-repository.ts';
import type { Records } from '../records/records.ts';
import type { StoredChunk } from './chunk-repository.ts';

/** Brings chunks of one project into the format of the API, with the names of their records. */
export interface ChunkItems {
  toItem(projectId: string, chunk: StoredChunk): Promise<Chunk>;
  /** Reads the names of all records with one query. */
  toItems(projectId: string, chunks: readonly StoredChunk[]): Promise<Chunk[]>;
}

export function createChunkItems(records: Pick<Records, 'name'>): ChunkItems {
  async function toItems(projectId: string, chunks: readonly StoredChunk[]): Promise<Chunk[]> {
    const ids = new Set(chunks.flatMap(({ recordId }) => recordId ?? []));
    const names = ids.size === 0 ? new Map<string, NamedRecord>() : await records.name(projectId, [...ids]);
    return chunks.map((chunk) => toChunkItem(chunk, names.get(chunk.recordId ?? '')));
  }
  return {
    toItems,
    async toItem(projectId, chunk) {
      const [item] = await toItems(projectId, [chunk]);
      return item as Chunk; // one chunk gives one item
    },
  };
}

function toChunkItem(chunk: StoredChunk, record: NamedRecord | undefined): Chunk {
  return {
    chunk_id: chunk.id,
    record_id: chunk.recordId,
    collection_id: chunk.collectionId,
    title: record?.title ?? null,
    file_id: record?.fileId ?? null,
    file_name: record?.fileName ?? null,
    url: record?.url ?? null,
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
