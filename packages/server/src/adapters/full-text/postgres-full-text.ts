import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { readWords } from './bm25.ts';
import type { FullText, IndexedChunk } from './full-text.ts';
import { countIn } from './full-text-statistics.ts';
import { createPostgresSearch, lengthsOfId } from './postgres-search.ts';

/*
 * One row a word and batch of chunks, holding arrays: `ids` (seq · 65536 + length) and `repeats`. A row a word and
 * chunk would be twice as large and half as fast to write. `indexed_chunk` knows a chunk's batch and words, for `remove`.
 */
/** Chunks of one batch: their words are counted on the event loop, and a batch's longest array stays within a page. */
const batchSize = 500;
const countedAtOnce = 100;
/** Rows of an index that one step deletes: some 10 ms, far from any statement timeout. */
const rowsOfDrop = 10_000;

export function createPostgresFullText(): FullText {
  const search = createPostgresSearch();
  return {
    async create(db, collectionId) {
      await db.insertInto('full_text').values({ collection_id: collectionId, chunks: 0, words: 0 }).execute();
    },
    async drop(db, collectionId) {
      search.forget(collectionId);
      // First, so that no search finds the collection any more.
      await sql`delete from full_text where collection_id = ${collectionId}`.execute(db);
      return (await dropRows(db, 'posting', collectionId)) && (await dropRows(db, 'indexed_chunk', collectionId));
    },
    async add(db, collectionId, chunks) {
      for (let from = 0; from < chunks.length; from += batchSize) {
        await addBatch(db, collectionId, chunks.slice(from, from + batchSize));
      }
    },
    remove: removeChunks,
    search: search.search,
  };
}

/** Deletes some rows of a collection. @returns whether none is left */
async function dropRows(db: Transaction<Tables>, table: string, collectionId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ctid = any(array(
    select ctid from ${sql.table(table)} where collection_id = ${collectionId} limit ${rowsOfDrop}))`.execute(db);
  return Number(numAffectedRows) < rowsOfDrop;
}

/** PostgreSQL's literal of an array of numbers: made faster than an array of parameters, and one parameter itself. */
const literal = (numbers: readonly number[]) => `{${numbers.join()}}`;

interface Posting {
  readonly ids: number[];
  readonly repeats: number[];
}
interface Batch {
  readonly postings: ReadonlyMap<string, Posting>;
  readonly chunks: ReadonlyArray<{ seq: number; length: number; words: string[] }>;
  readonly words: number;
}

async function countBatch(chunks: readonly IndexedChunk[]): Promise<Batch> {
  const postings = new Map<string, Posting>();
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
  // First of all, because it locks: additions and removals in one collection come one after another.
  await countIn(db, collectionId, { chunks: chunks.length, words: batch.words });
  const number = Math.min(...chunks.map((chunk) => chunk.seq));
  const added = JSON.stringify(batch.chunks);
  await sql`insert into indexed_chunk (collection_id, seq, batch, length, words)
    select ${collectionId}, seq, ${number}::bigint, length, words
    from json_to_recordset(${added}::json) as added (seq bigint, length int, words text[])`.execute(db);
  const postings = [...batch.postings.values()];
  await sql`insert into posting (collection_id, word, batch, chunks, ids, repeats)
    select ${collectionId}, word, ${number}::bigint, cardinality(ids::bigint[]), ids::bigint[], repeats::smallint[]
    from unnest(${[...batch.postings.keys()]}::text[], ${postings.map((each) => literal(each.ids))}::text[],
      ${postings.map((each) => literal(each.repeats))}::text[]) as added (word, ids, repeats)`.execute(db);
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
  const left = await sql<{ batch: number }>`
    select distinct batch from indexed_chunk
    where collection_id = ${collectionId} and batch = any(${literal(rows.map(({ batch }) => batch))}::bigint[])`.execute(
    db,
  );
  const shrunk = new Set(left.rows.map(({ batch }) => batch));
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

/** The rows of `posting` that the chunks are in, as something to join with. */
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

/** For batches of which no chunk is left. */
async function deletePostings(db: Transaction<Tables>, collectionId: string, chunks: readonly RemovedChunk[]) {
  if (chunks.length === 0) return;
  await sql`delete from posting using ${postingsOf(chunks)}
    where collection_id = ${collectionId} and posting.word = touched.word and posting.batch = touched.batch`.execute(
    db,
  );
}
