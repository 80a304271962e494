import type { Locator } from '@quartermaster/contract';
import type { Insertable, Selectable, Transaction } from 'kysely';
import type { NewChunk, StoredChunk } from '../../collections/chunk-repository.ts';
import type { Database } from './database.ts';
import { insertMany } from './sqlite-insert-many.ts';
import type { ChunkTable, Tables } from './tables.ts';

/** Where new chunks belong. */
export interface ChunkPlace {
  readonly projectId: string;
  readonly collectionId: string;
  /** null: made directly. */
  readonly recordId: string | null;
  readonly generation: number;
}

/** Rows of one statement in PostgreSQL: it is built on the event loop, some 5 ms for so many. */
const rowsAtOnce = 200;

/** Writes chunks, then their words into the index. */
export async function insertChunks(
  transaction: Transaction<Tables>,
  { dialect, fullText }: Pick<Database, 'dialect' | 'fullText'>,
  { place, chunks }: { place: ChunkPlace; chunks: readonly NewChunk[] },
): Promise<void> {
  if (chunks.length === 0) return;
  const rows = chunks.map((chunk) => toRow(place, chunk));
  const seqs = dialect === 'sqlite' ? await insertMany(transaction, 'chunk', rows) : await insert(transaction, rows);
  const indexed = chunks.map(({ words }, place) => ({ seq: seqs[place] as number, words })); // as many as rows
  await fullText.add(transaction, place.collectionId, indexed);
}

/** @returns their `seq`, in order */
async function insert(transaction: Transaction<Tables>, rows: ReadonlyArray<Insertable<ChunkTable>>) {
  const seqs = new Map<string, number>();
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const some = transaction.insertInto('chunk').values(rows.slice(from, from + rowsAtOnce));
    for (const { id, seq } of await some.returning(['id', 'seq']).execute()) seqs.set(id, seq);
  }
  return rows.map(({ id }) => seqs.get(id) as number); // every row was returned
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
