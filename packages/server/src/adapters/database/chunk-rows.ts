import type { Locator } from '@quartermaster/contract';
import type { Insertable, Selectable, Transaction } from 'kysely';
import type { NewChunk, StoredChunk } from '../../collections/chunk-repository.ts';
import type { FullText } from './full-text.ts';
import type { ChunkTable, Tables } from './tables.ts';

/** Where new chunks belong. */
export interface ChunkPlace {
  readonly projectId: string;
  readonly collectionId: string;
  /** null: made directly. */
  readonly recordId: string | null;
  readonly generation: number;
}

/** Writes chunks and their words: one statement for all rows, then the index. */
export async function insertChunks(
  transaction: Transaction<Tables>,
  fullText: FullText,
  { place, chunks }: { place: ChunkPlace; chunks: readonly NewChunk[] },
): Promise<void> {
  if (chunks.length === 0) return;
  const rows = await transaction
    .insertInto('chunk')
    .values(chunks.map((chunk) => toRow(place, chunk)))
    .returning(['id', 'seq'])
    .execute();
  const words = new Map(chunks.map((chunk) => [chunk.id, chunk.words]));
  const indexed = rows.map((row) => ({ seq: row.seq, words: words.get(row.id) ?? [] }));
  await fullText.add(transaction, place.collectionId, indexed);
}

export function toChunk(row: Selectable<ChunkTable>): StoredChunk {
  return {
    id: row.id,
    recordId: row.record_id,
    collectionId: row.collection_id,
    content: row.content,
    question: row.question,
    answer: row.answer,
    numTokens: row.num_tokens,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>, // written by toRow, as is the locator
    locator: row.locator === null ? null : (JSON.parse(row.locator) as Locator),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toRow(place: ChunkPlace, chunk: NewChunk): Insertable<ChunkTable> {
  return {
    id: chunk.id,
    project_id: place.projectId,
    collection_id: place.collectionId,
    record_id: place.recordId,
    generation: place.generation,
    ordinal: chunk.ordinal,
    content: chunk.content,
    question: chunk.question,
    answer: chunk.answer,
    num_tokens: chunk.numTokens,
    metadata: JSON.stringify(chunk.metadata),
    locator: chunk.locator === null ? null : JSON.stringify(chunk.locator),
    row_key: chunk.rowKey ?? null,
    created_at: chunk.createdAt,
    updated_at: chunk.createdAt,
  };
}
