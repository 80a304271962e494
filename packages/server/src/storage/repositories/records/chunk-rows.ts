import type { Locator } from '@quartermaster/contract';
import { sql, type Transaction } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { NewChunk, StoredChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import { readFileName } from '../../../stores/collections/records/record-file-name.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import { listFilterTerms } from '../../../stores/search/filter-terms.ts';
import { contentOf, toStoredContent } from '../../database/chunk-content.ts';
import { countBytes } from '../../database/counted-bytes.ts';
import type { ChunkRow, Database } from '../../database/database.ts';
import { insertInto, runMany } from '../../database/sqlite-insert-many.ts';
import type { Tables } from '../../database/tables.ts';
import { fileOfRecord } from '../../database/visible-chunks.ts';
import { prepareInsert } from './copy-rows.ts';
import { toNamedRecord } from './source-columns.ts';
import { changeCounts, setId, slots, vectorTable } from './vector-sets.ts';

/** The owner of new chunks. */
export interface ChunkPlace {
  readonly projectId: string;
  readonly collectionId: string;
  /** Null for chunks that are created directly. */
  readonly recordId: string | null;
  readonly generation: number;
}

type Owner = ReturnType<typeof toOwner>;

interface Added {
  readonly place: ChunkPlace;
  readonly owner: Owner;
  readonly chunks: readonly NewChunk[];
}

/** New chunks whose rows and index entries are built, so that a transaction holds its locks for its statements only. */
export interface PreparedChunks {
  readonly owner: Owner;
  readonly chunks: readonly NewChunk[];
  /** The bytes of the chunks. */
  readonly bytes: number;
  /** Inserts the chunks and adds their words to the index. */
  readonly insert: (transaction: Transaction<Tables>) => Promise<void>;
  /** Prepares the same chunks for an owner that has changed meanwhile. */
  readonly again: (owner: Owner) => Promise<PreparedChunks>;
}

type Target = Pick<Database, 'searchIndex' | 'reserveSeqs'>;

/** Prepares new chunks. Call it before the transaction that inserts them. */
export async function prepareChunks(database: Target, added: Added): Promise<PreparedChunks> {
  const seqs = (await database.reserveSeqs?.(added.chunks.length)) ?? [];
  return prepareWith(database, added, seqs);
}

/** Prepares chunks of the next generation of a record. */
export function prepareNext(database: Target, job: RecordJob, chunks: readonly NewChunk[]): Promise<PreparedChunks> {
  const { projectId, collectionId, id: recordId } = job;
  const place = { projectId, collectionId, recordId, generation: job.generation + 1 };
  const file = job.fileId === null || job.content === '' ? null : job.content;
  const owner = toOwner(recordId, { metadata: job.metadata, title: job.title, file });
  return prepareChunks(database, { place, owner, chunks });
}

async function prepareWith(
  { searchIndex }: Target,
  { place, owner, chunks }: Added,
  seqs: readonly number[],
): Promise<PreparedChunks> {
  const rows = chunks.map((chunk) => toRow(place, chunk));
  const entries = chunks.map(({ words, metadata, question }) => ({
    words,
    filterTerms: listFilterTerms({ ...owner, question, metadata }),
  }));
  const withSeqs = <Value extends object>(values: readonly Value[], given: readonly number[]) =>
    values.map((value, at) => ({ seq: given[at] as number, ...value })); // as many as values
  const prepared = {
    owner,
    chunks,
    bytes: countBytes('chunk', rows),
    again: (changed: Owner) => prepareWith({ searchIndex }, { place, owner: changed, chunks }, seqs),
  };
  if (chunks.length === 0) return { ...prepared, insert: async () => {} };
  if (searchIndex.prepare === undefined) {
    const insert = async (transaction: Transaction<Tables>) => {
      const assigned = await insertRows(transaction, rows);
      await searchIndex.add(transaction, place.collectionId, withSeqs(entries, assigned));
    };
    return { ...prepared, insert };
  }
  const insertPrepared = prepareInsert('chunk', withSeqs(rows, seqs));
  const index = await searchIndex.prepare(place.collectionId, withSeqs(entries, seqs));
  const insert = async (transaction: Transaction<Tables>) => {
    await insertPrepared(transaction);
    await index(transaction);
  };
  return { ...prepared, insert };
}

type NewChunkRow = ReturnType<typeof toRow>;

export const ownerColumns = ['record.metadata', 'record.title', fileOfRecord] as const;

/** Reads what the filter terms of chunks need of their record. */
export async function readOwner(transaction: Transaction<Tables>, recordId: string | null) {
  const rows = transaction.selectFrom('record').select(ownerColumns);
  return toOwner(recordId, recordId === null ? undefined : await rows.where('id', '=', recordId).executeTakeFirst());
}

/** The values of `ownerColumns`. */
interface OwnerRow {
  readonly metadata: string;
  readonly title: string;
  readonly file: string | null;
}

export function toOwner(recordId: string | null, record: OwnerRow | undefined) {
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

export function toChunk(row: ChunkRow): StoredChunk {
  return {
    id: row.id,
    recordId: row.record_id,
    record: row.record_id === null ? null : toNamedRecord(row),
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

/** A record whose visible chunks are of this generation. The next one is written and not yet visible. */
interface Generations {
  readonly recordId: string;
  readonly collectionId: string;
  readonly generation: number;
}

/** Returns whether the next generation has the same texts at the same places. */
export async function areChunksEqual(
  transaction: Transaction<Tables>,
  { recordId, generation }: Generations,
  numChunks: number,
): Promise<boolean> {
  const { rows } = await sql<{ equal_chunks: number; visible_chunks: number }>`
    select
      (select count(*) from chunk where record_id = ${recordId} and generation = ${generation}) as visible_chunks,
      (select count(*) from chunk old join chunk new
        on new.record_id = old.record_id and new.ordinal = old.ordinal and new.generation = ${generation + 1}
          and new.content = old.content and coalesce(new.locator, '') = coalesce(old.locator, '')
          and coalesce(new.scan_boxes, '') = coalesce(old.scan_boxes, '')
        where old.record_id = ${recordId} and old.generation = ${generation}) as equal_chunks`.execute(transaction);
  const [row] = rows;
  return Number(row?.visible_chunks) === numChunks && Number(row?.equal_chunks) === numChunks;
}

/** The number of chunks of each generation, from the first, that are compared. It keeps the transaction short. */
const mostCompared = 5_000;

/**
 * Gives the chunks of the next generation the vectors of visible chunks with the same text, so that the model is not
 * asked for them again. ADR 0156.
 */
export async function copyVectors(
  transaction: Transaction<Tables>,
  { recordId, collectionId, generation }: Generations,
): Promise<void> {
  for (const slot of slots) {
    const key = { collectionId, slot };
    // The changes of a collection are committed in order, because the row stays locked.
    const set = await transaction
      .updateTable('collection_vector')
      .set((column) => ({ last_change: column('last_change', '+', 1) }))
      .where('id', '=', setId(key))
      .where('role', '<>', 'kept')
      .returning(['first_change', 'last_change'])
      .executeTakeFirst();
    if (set === undefined) continue;
    const vectors = sql.table(vectorTable(slot));
    const copied = await sql`
      with old_chunk as materialized (${firstTexts(recordId, generation)}),
      new_chunk as materialized (${firstTexts(recordId, generation + 1)}),
      old as materialized (
        select old_chunk.text, min(old_chunk.seq) as seq from old_chunk join ${vectors} stored on stored.seq = old_chunk.seq
        where stored.vector is not null and stored.change > ${set.first_change}
        group by old_chunk.text
      )
      insert into ${vectors} (seq, collection_id, change, vector, reason, retry_at, failures, tokens, text_key)
      select new_chunk.seq, ${collectionId}, ${set.last_change}, stored.vector, null, null, 0, 0, stored.text_key
      from new_chunk join old on old.text = new_chunk.text join ${vectors} stored on stored.seq = old.seq`.execute(
      transaction,
    );
    await changeCounts(transaction, key, { embedded: Number(copied.numAffectedRows ?? 0), refused: 0 });
  }
}

/** Selects the texts that are embedded, with the same expression as `missing-vectors.ts`. */
const firstTexts = (recordId: string, generation: number) => sql`
  select seq, coalesce(question, content) as text from chunk
  where record_id = ${recordId} and generation = ${generation} order by ordinal limit ${sql.lit(mostCompared)}`;
