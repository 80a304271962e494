import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { IndexedChunk } from '../../search/search-index.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { readWords } from './bm25.ts';
import { countIn } from './full-text-statistics.ts';
import { createPostgresSearch, lengthsOfId } from './postgres-search.ts';

/*
 * Each row of `posting` covers one word and one batch of chunks with the arrays `ids` (seq · 65536 + length) and
 * `repeats`. One row per word and chunk would take twice the space and twice the time to write. `indexed_chunk` stores
 * a chunk's batch and words for `remove`.
 */
/**
 * Number of chunks in one batch. The event loop counts the words of a batch, and the longest array of a batch fits in a
 * database page.
 */
const batchSize = 500;
const countedAtOnce = 100;

/** The index of an earlier version, until a rebuild has replaced it. */
export interface PostgresFullText extends Pick<DatabaseSearchIndex, 'add' | 'remove' | 'ask'> {
  /** Hides the index of a collection. Its rows stay until the tables are dropped. */
  drop(db: Transaction<Tables>, collectionId: string): Promise<void>;
}

export function createPostgresFullText(): PostgresFullText {
  const search = createPostgresSearch();
  return {
    async drop(db, collectionId) {
      search.forget(collectionId);
      await db.deleteFrom('full_text').where('collection_id', '=', collectionId).execute();
    },
    async add(db, collectionId, chunks) {
      for (let from = 0; from < chunks.length; from += batchSize) {
        await addBatch(db, collectionId, chunks.slice(from, from + batchSize));
      }
    },
    remove: removeChunks,
    ask: search.ask,
  };
}

/**
 * Drops the tables when no collection has an index in them any more.
 * @returns false while one has, or something reads the tables, such as a backup
 */
export async function dropOldTables(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean; used: boolean }>`select to_regclass('posting') is not null as exists,
    exists (select from full_text) as used`.execute(db);
  if (rows[0]?.exists !== true) return true;
  if (rows[0].used) return false;
  const { rows: locked } = await sql`select from pg_locks
    where relation in ('posting'::regclass, 'indexed_chunk'::regclass) and pid <> pg_backend_pid() limit 1`.execute(db);
  if (locked.length > 0) return false;
  await sql`drop table if exists posting, indexed_chunk`.execute(db);
  return true;
}

/** Builds PostgreSQL's array literal. It is faster than an array of parameters and needs only one parameter. */
const literal = (numbers: readonly number[]) => `{${numbers.join()}}`;

interface PostingEntry {
  readonly ids: number[];
  readonly repeats: number[];
}
interface Batch {
  readonly postings: ReadonlyMap<string, PostingEntry>;
  readonly chunks: ReadonlyArray<{ seq: number; length: number; words: string[] }>;
  readonly words: number;
}

async function countBatch(chunks: readonly IndexedChunk[]): Promise<Batch> {
  const postings = new Map<string, PostingEntry>();
  const counted = [];
  for (const [place, { seq, words }] of chunks.entries()) {
    if (place > 0 && place % countedAtOnce === 0) await nextTurn();
    const { counts, length } = readWords(words);
    for (const [word, repeats] of counts) {
      let posting = postings.get(word);
      if (posting === undefined) {
        posting = { ids: [], repeats: [] };
        postings.set(word, posting);
      }
      posting.ids.push(seq * lengthsOfId + length);
      posting.repeats.push(repeats);
    }
    counted.push({ seq, length, words: [...counts.keys()] });
  }
  return { postings, chunks: counted, words: counted.reduce((sum, { length }) => sum + length, 0) };
}

async function addBatch(db: Transaction<Tables>, collectionId: string, chunks: readonly IndexedChunk[]): Promise<void> {
  const batch = await countBatch(chunks);
  // This statement comes first because it locks the row. Additions and removals in one collection then run one after
  // another.
  await countIn(db, collectionId, { chunks: chunks.length, words: batch.words });
  // When the first chunk of a batch gets a new text, the batch may still have postings of its other chunks.
  const number = Math.min(...chunks.map((chunk) => chunk.seq));
  const added = JSON.stringify(batch.chunks);
  await sql`insert into indexed_chunk (collection_id, seq, batch, length, words)
    select ${collectionId}, seq, ${number}::bigint, length, words
    from json_to_recordset(${added}::json) as added (seq bigint, length int, words text[])`.execute(db);
  const postings = [...batch.postings.values()];
  await sql`insert into posting (collection_id, word, batch, chunks, ids, repeats)
    select ${collectionId}, word, ${number}::bigint, cardinality(ids::bigint[]), ids::bigint[], repeats::smallint[]
    from unnest(${[...batch.postings.keys()]}::text[], ${postings.map((each) => literal(each.ids))}::text[],
      ${postings.map((each) => literal(each.repeats))}::text[]) as added (word, ids, repeats)
    on conflict (collection_id, word, batch) do update set (chunks, ids, repeats) = row(
      posting.chunks + excluded.chunks, posting.ids || excluded.ids, posting.repeats || excluded.repeats)`.execute(db);
}

interface RemovedChunk {
  readonly seq: number;
  readonly length: number;
  readonly batch: number;
  readonly words: readonly string[];
}

async function removeChunks(db: Transaction<Tables>, collectionId: string, seqs: readonly number[]): Promise<void> {
  await sql`select 1 from full_text where collection_id = ${collectionId} for update`.execute(db);
  const { rows } = await sql<RemovedChunk>`
    delete from indexed_chunk where collection_id = ${collectionId} and seq = any(${literal(seqs)}::bigint[])
    returning seq, length, batch, words`.execute(db);
  if (rows.length === 0) return;
  const remaining = await sql<{ batch: number }>`
    select distinct batch from indexed_chunk
    where collection_id = ${collectionId} and batch = any(${literal(rows.map(({ batch }) => batch))}::bigint[])`.execute(
    db,
  );
  const shrunk = new Set(remaining.rows.map(({ batch }) => batch));
  await shrinkPostings(
    db,
    collectionId,
    rows.filter(({ batch }) => shrunk.has(batch)),
  );
  await deletePostings(
    db,
    collectionId,
    rows.filter(({ batch }) => !shrunk.has(batch)),
  );
  const words = rows.reduce((sum, { length }) => sum + length, 0);
  await countIn(db, collectionId, { chunks: -rows.length, words: -words });
}

/** Returns the `posting` rows of the chunks in a form that a statement can join. */
function postingsOf(chunks: readonly RemovedChunk[]) {
  const found = new Map<string, [word: string, batch: number]>();
  for (const { batch, words } of chunks) for (const word of words) found.set(`${batch} ${word}`, [word, batch]);
  const words = [...found.values()].map(([word]) => word);
  const batches = literal([...found.values()].map(([, batch]) => batch));
  return sql`unnest(${words}::text[], ${batches}::bigint[]) as touched (word, batch)`;
}

async function shrinkPostings(db: Transaction<Tables>, collectionId: string, chunks: readonly RemovedChunk[]) {
  if (chunks.length === 0) return;
  const ids = literal(chunks.map(({ seq, length }) => seq * lengthsOfId + length));
  const touched = postingsOf(chunks);
  await sql`update posting set (ids, repeats, chunks) = (
      select coalesce(array_agg(id), '{}'), coalesce(array_agg(repeat), '{}'), count(*)
      from unnest(ids, repeats) as kept (id, repeat) where id <> all(${ids}::bigint[]))
    from ${touched}
    where collection_id = ${collectionId} and posting.word = touched.word and posting.batch = touched.batch`.execute(
    db,
  );
  await sql`delete from posting using ${touched}
    where collection_id = ${collectionId} and posting.word = touched.word and posting.batch = touched.batch
      and chunks = 0`.execute(db);
}

/** Deletes the postings of batches that have no chunk left. */
async function deletePostings(db: Transaction<Tables>, collectionId: string, chunks: readonly RemovedChunk[]) {
  if (chunks.length === 0) return;
  await sql`delete from posting using ${postingsOf(chunks)}
    where collection_id = ${collectionId} and posting.word = touched.word and posting.batch = touched.batch`.execute(
    db,
  );
}
