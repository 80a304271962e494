import type { Locator } from '@quartermaster/contract';
import type { CompiledQuery, Kysely, Selectable, Transaction } from 'kysely';
import type { NewChunk, StoredChunk } from '../../collections/chunk-repository.ts';
import { isPacked, type NewChunks, type PackedChunks } from '../../collections/record-job-repository.ts';
import { parseJson } from '../../kernel/parse-json.ts';
import type { ChunkTable } from './collection-tables.ts';
import type { Database } from './database.ts';
import { askThread, insertOf, runMany } from './sqlite-insert-many.ts';
import { type BatchAnswer, storedColumns } from './sqlite-protocol.ts';
import type { Tables } from './tables.ts';

/** Where new chunks belong. */
export interface ChunkPlace {
  readonly projectId: string;
  readonly collectionId: string;
  /** null: made directly. */
  readonly recordId: string | null;
  readonly generation: number;
}

/** Rows of one statement in PostgreSQL, which is built on the event loop, some 5 ms for so many. */
const rowsAtOnce = 200;

interface Added<Chunks> {
  readonly place: ChunkPlace;
  readonly chunks: Chunks;
}

/** Writes chunks, then their words into the index. */
export async function insertChunks(
  transaction: Transaction<Tables>,
  { dialect, fullText }: Pick<Database, 'dialect' | 'fullText'>,
  { place, chunks }: Added<NewChunks>,
): Promise<void> {
  if (chunks.length === 0) return;
  const list = isPacked(chunks) ? unpack(chunks) : chunks;
  const insert = dialect === 'sqlite' ? insertRows : insertByStatements;
  const seqs = await insert(transaction, { place, chunks: list });
  const indexed = list.map(({ words }, at) => ({ seq: seqs[at] as number, words })); // as many as rows
  await fullText.add(transaction, place.collectionId, indexed);
}

function unpack({ batch, ids, createdAt }: PackedChunks): NewChunk[] {
  return Array.from(batch, (chunk, at) => ({ ...chunk, id: ids[at] as string, createdAt })); // there are as many
}

/**
 * Does the same in the thread of SQLite, in a transaction of its own that begins with `hold`.
 * @returns the row that `hold` gave; undefined when it gave none and nothing was written
 */
export async function insertInThread<Held>(
  write: Kysely<Tables>,
  { place, chunks: { batch, ids, createdAt } }: Added<PackedChunks>,
  hold: CompiledQuery<Held>,
): Promise<Held | undefined> {
  const { held } = await askThread<BatchAnswer>(write, {
    hold: { sql: hold.sql, parameters: hold.parameters },
    sql: insertOf('chunk', { alike: toColumns(place), others: storedColumns }),
    collectionId: place.collectionId,
    packed: batch.packed,
    ids,
    createdAt,
  });
  return held as Held | undefined; // what SQLite gave for that query
}

/** In SQLite. @returns their `seq`, in order */
async function insertRows(
  transaction: Transaction<Tables>,
  { place, chunks }: Added<readonly NewChunk[]>,
): Promise<readonly number[]> {
  const alike = toColumns(place);
  // One statement for all places: most lists are short.
  const sql = insertOf('chunk', { alike: {}, others: [...columnsAlike, ...storedColumns] });
  const lists = chunks
    .map(toRow)
    .map((row) => [...columnsAlike.map((column) => alike[column]), ...storedColumns.map((column) => row[column])]);
  return runMany(transaction, sql, lists);
}

/** @returns their `seq`, in order */
async function insertByStatements(
  transaction: Transaction<Tables>,
  { place, chunks }: Added<readonly NewChunk[]>,
): Promise<number[]> {
  const alike = toColumns(place);
  const seqs = new Map<string, number>();
  for (let from = 0; from < chunks.length; from += rowsAtOnce) {
    const rows = chunks.slice(from, from + rowsAtOnce).map((chunk) => ({ ...alike, ...toRow(chunk) }));
    const some = transaction.insertInto('chunk').values(rows);
    for (const { id, seq } of await some.returning(['id', 'seq']).execute()) seqs.set(id, seq);
  }
  return chunks.map(({ id }) => seqs.get(id) as number); // every row was returned
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
    metadata: parseJson(row.metadata) as Record<string, unknown>, // written by toRow, as is the locator
    locator: row.locator === null ? null : (parseJson(row.locator) as Locator),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const columnsAlike = ['project_id', 'collection_id', 'record_id', 'generation'] as const;

function toColumns(place: ChunkPlace) {
  return {
    project_id: place.projectId,
    collection_id: place.collectionId,
    record_id: place.recordId,
    generation: place.generation,
  };
}

function toRow(chunk: NewChunk) {
  return {
    id: chunk.id,
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
