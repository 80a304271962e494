import type { Locator } from '@quartermaster/contract';
import type { Transaction } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { NewChunk, StoredChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import { readFileName } from '../../../stores/collections/records/record-file-name.ts';
import { listFilterTerms } from '../../../stores/search/filter-terms.ts';
import { contentOf, toStoredContent } from '../../database/chunk-content.ts';
import { countBytes } from '../../database/counted-bytes.ts';
import type { ChunkRow, Database } from '../../database/database.ts';
import { insertInto, runMany } from '../../database/sqlite-insert-many.ts';
import type { Tables } from '../../database/tables.ts';
import { fileOfRecord } from './source-columns.ts';

/** The owner of new chunks. */
export interface ChunkPlace {
  readonly projectId: string;
  readonly collectionId: string;
  /** Null for chunks that are created directly. */
  readonly recordId: string | null;
  readonly generation: number;
}

/** Number of rows in one PostgreSQL statement. Building it takes about 5 ms on the event loop. */
const rowsAtOnce = 200;

interface Added {
  readonly place: ChunkPlace;
  readonly chunks: readonly NewChunk[];
}

/**
 * Inserts chunks and adds their words to the index.
 * @returns the bytes of the chunks
 */
export async function insertChunks(
  transaction: Transaction<Tables>,
  { dialect, searchIndex }: Pick<Database, 'dialect' | 'searchIndex'>,
  { place, chunks }: Added,
): Promise<number> {
  if (chunks.length === 0) return 0;
  const rows = chunks.map((chunk) => toRow(place, chunk));
  const insert = dialect === 'sqlite' ? insertRows : insertByStatements;
  const seqs = await insert(transaction, rows);
  const owner = await readOwner(transaction, place.recordId);
  const indexed = chunks.map(({ words, metadata, question }, at) => ({
    seq: seqs[at] as number, // as many as rows
    words,
    filterTerms: listFilterTerms({ ...owner, question, metadata }),
  }));
  await searchIndex.add(transaction, place.collectionId, indexed);
  return countBytes('chunk', rows);
}

type NewChunkRow = ReturnType<typeof toRow>;

/** Reads what the filter terms of chunks need of their record. */
export async function readOwner(transaction: Transaction<Tables>, recordId: string | null) {
  const rows = transaction.selectFrom('record').select(['metadata', 'title', fileOfRecord]);
  const record = recordId === null ? undefined : await rows.where('id', '=', recordId).executeTakeFirst();
  const recordMetadata = (record === undefined ? {} : parseJson(record.metadata)) as Record<string, unknown>; // an object
  return {
    recordId,
    recordMetadata,
    title: record?.title ?? null,
    fileName: record?.file == null ? null : readFileName(record.file),
  };
}

/**
 * Inserts the rows in SQLite.
 * @returns their `seq`, in order
 */
async function insertRows(transaction: Transaction<Tables>, rows: readonly NewChunkRow[]): Promise<readonly number[]> {
  return runMany(
    transaction,
    insertInto('chunk', Object.keys(rows[0] ?? {})),
    rows.map((row) => Object.values(row)),
  );
}

/**
 * Inserts the rows in PostgreSQL.
 * @returns their `seq`, in order
 */
async function insertByStatements(transaction: Transaction<Tables>, rows: readonly NewChunkRow[]): Promise<number[]> {
  const seqs = new Map<string, number>();
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const some = transaction.insertInto('chunk').values(rows.slice(from, from + rowsAtOnce));
    for (const { id, seq } of await some.returning(['id', 'seq']).execute()) seqs.set(id, seq);
  }
  return rows.map(({ id }) => seqs.get(id) as number); // every row was returned
}

export function toChunk(row: ChunkRow): StoredChunk {
  return {
    id: row.id,
    recordId: row.record_id,
    collectionId: row.collection_id,
    content: contentOf(row),
    question: row.question,
    answer: row.answer,
    numTokens: row.num_tokens,
    metadata: parseJson(row.metadata) as Record<string, unknown>, // written by toRow, as is the locator
    locator: row.locator === null ? null : (parseJson(row.locator) as Locator),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function toStoredLocator(locator: Locator | null): string | null {
  return locator === null ? null : JSON.stringify(locator);
}

function toRow(place: ChunkPlace, chunk: NewChunk) {
  return {
    project_id: place.projectId,
    collection_id: place.collectionId,
    record_id: place.recordId,
    generation: place.generation,
    id: chunk.id,
    ordinal: chunk.ordinal,
    content: toStoredContent(chunk),
    question: chunk.question,
    answer: chunk.answer,
    num_tokens: chunk.numTokens,
    metadata: JSON.stringify(chunk.metadata),
    locator: toStoredLocator(chunk.locator),
    row_key: chunk.rowKey ?? null,
    scan_boxes: chunk.boxes === undefined ? null : JSON.stringify(chunk.boxes),
    created_at: chunk.createdAt,
    updated_at: chunk.createdAt,
  };
}
