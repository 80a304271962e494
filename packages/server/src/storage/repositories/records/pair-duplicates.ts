import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import { bytesOfChunk } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { pairKeyOf } from '../../database/pair-key.ts';
import type { Tables } from '../../database/tables.ts';
import { findKeys } from './pair-keys.ts';

/** A generation that no record ever has. Its chunks are swept with the old chunks of their record. */
const replaced = -2;

/** Returns those of the keys that visible pairs of other records of the collection have. */
export async function findExistingKeys(
  read: Kysely<Tables>,
  of: { readonly collectionId: string; readonly id: string | null },
  rowKeys: readonly string[],
): Promise<Set<string>> {
  if (rowKeys.length === 0) return new Set();
  // PostgreSQL has no statistics yet about the keys of a collection that has just grown. The limit makes it look them up first.
  const found = findKeys(read, of.collectionId, rowKeys).select('pair_key.seq').limit(Number.MAX_SAFE_INTEGER);
  const rows = await read
    .selectFrom(found.as('found'))
    .innerJoin('chunk', 'chunk.seq', 'found.seq')
    .innerJoin('record', 'record.id', 'chunk.record_id')
    .select(['chunk.row_key', 'chunk.collection_id'])
    .whereRef('chunk.generation', '=', 'record.generation')
    .where('record.status', '<>', 'deleting')
    .where('record.id', '<>', of.id ?? '')
    .execute();
  const wanted = new Set<string | null>(rowKeys);
  const taken = rows.filter((row) => row.collection_id === of.collectionId && wanted.has(row.row_key));
  return new Set(taken.flatMap((row) => (row.row_key === null ? [] : [row.row_key])));
}

/** The pairs of a record that others may have, too. */
export interface SharedPairs {
  readonly dialect: Database['dialect'];
  readonly job: RecordJob;
}

/** Number of ordinals that one statement examines. */
const ordinalsAtOnce = 10_000;

/** Returns the starts of ranges of bounded size that cover the ordinals of a job's chunks. */
async function rangesOf(db: Kysely<Tables>, job: RecordJob): Promise<number[]> {
  const { last } = await db
    .selectFrom('chunk')
    .select((column) => column.fn.max<number | null>('ordinal').as('last'))
    .where('record_id', '=', job.id)
    .where('generation', '=', job.generation + 1)
    .executeTakeFirstOrThrow();
  return Array.from({ length: Math.ceil(((last ?? -1) + 1) / ordinalsAtOnce) }, (_, n) => n * ordinalsAtOnce);
}

/** Finds visible pairs of other records with the same keys as this job's pairs, within `ordinalsAtOnce` ordinals. */
function rivalsFrom(db: Kysely<Tables>, of: SharedPairs, from: number) {
  const all = rivals(db, of).where('written.ordinal', '>=', from);
  return all.where('written.ordinal', '<', from + ordinalsAtOnce);
}

type Found = Pick<Selectable<Tables['chunk']>, 'seq' | 'record_id' | 'generation'>;

/** Finds visible pairs of other records with the same keys as this job's pairs. */
function rivals(db: Kysely<Tables>, { dialect, job }: SharedPairs) {
  const key = pairKeyOf(job.collectionId, 'written.row_key');
  // An expression instead of the bare column prevents SQLite from scanning the index by collection for each pair.
  const isRival = (chunk: string) => sql<boolean>`${sql.ref(`${chunk}.collection_id`)} || '' = ${job.collectionId}
    and ${sql.ref(`${chunk}.row_key`)} = written.row_key and ${sql.ref(`${chunk}.record_id`)} <> written.record_id`;
  const isPostgres = dialect === 'postgres';
  // PostgreSQL knows nothing yet about a collection that has just grown, and would compare all pairs with all. "offset 0" makes it
  // look up one pair after another in the index.
  const found = isPostgres
    ? sql<Found>`lateral (select chunk.seq, chunk.record_id, chunk.generation
        from pair_key inner join chunk on chunk.seq = pair_key.seq where pair_key.key = ${key} and ${isRival('chunk')} offset 0)`
    : sql<Found>`pair_key as known on known.key = ${key} inner join chunk`;
  return db
    .selectFrom('chunk as written')
    .innerJoin(found.as<'other'>('other'), (join) =>
      join.on(isPostgres ? sql<boolean>`true` : sql<boolean>`other.seq = known.seq and ${isRival('other')}`),
    )
    .innerJoin('record', (join) =>
      join.onRef('record.id', '=', 'other.record_id').onRef('record.generation', '=', 'other.generation'),
    )
    .where('written.record_id', '=', job.id)
    .where('written.generation', '=', job.generation + 1)
    .where('record.status', '<>', 'deleting');
}

/** The possible difference between the clocks of two processes, in milliseconds. */
const clockSkew = 60_000;

/**
 * Returns whether a record that was published after `since` has a pair with the same key as one of this job. It looks
 * for pairs only when a record was published.
 */
export async function isOvertaken(transaction: Transaction<Tables>, of: SharedPairs, since: number): Promise<boolean> {
  const { job } = of;
  const other = await transaction
    .selectFrom('record')
    .select('id')
    .where('collection_id', '=', job.collectionId)
    .where('id', '<>', job.id)
    .where('generation', '>', 0)
    .where('updated_at', '>=', since - clockSkew)
    .limit(1)
    .executeTakeFirst();
  if (other === undefined) return false;
  return (await rivals(transaction, of).select('other.seq').limit(1).executeTakeFirst()) !== undefined;
}

/** Counts, by record, the visible pairs of other records that this job's pairs replace. */
export async function countReplaced(transaction: Transaction<Tables>, of: SharedPairs): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  // A record has each key once, so no pair is counted in two ranges.
  for (const from of await rangesOf(transaction, of.job)) {
    const rows = await rivalsFrom(transaction, of, from)
      .select((column) => ['record.id', column.fn.count<number>('other.seq').distinct().as('chunks')])
      .groupBy('record.id')
      .execute();
    for (const { id, chunks } of rows) counts.set(id, (counts.get(id) ?? 0) + Number(chunks));
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Hides the replaced pairs and leaves them to the sweep. It locks the records first and then their chunks, as the sweep
 * does.
 * @returns the bytes of the replaced pairs
 */
export async function replaceRivals(
  transaction: Transaction<Tables>,
  of: SharedPairs,
  { counts, now }: { counts: ReadonlyMap<string, number>; now: number },
): Promise<number> {
  for (const [id, chunks] of counts) {
    await transaction
      .updateTable('record')
      .set((column) => ({
        num_chunks: column('num_chunks', '-', chunks),
        run_after: column.case().when('status', '=', 'creating').then(column.ref('run_after')).else(now).end(),
        stage: column.case().when('status', '=', 'creating').then(column.ref('stage')).else('sweeping').end(),
      }))
      .where('id', '=', id)
      .execute();
  }
  if (counts.size === 0) return 0;
  const replacedBytes = new Map<string | null, number>();
  for (const from of await rangesOf(transaction, of.job)) {
    const pairs = await transaction
      .updateTable('chunk')
      .set({ generation: replaced })
      .where('seq', 'in', rivalsFrom(transaction, of, from).select('other.seq'))
      .returning(['record_id', bytesOfChunk.as('bytes')])
      .execute();
    for (const { record_id: id, bytes } of pairs) replacedBytes.set(id, (replacedBytes.get(id) ?? 0) + Number(bytes));
  }
  for (const [id, bytes] of replacedBytes) {
    const rival = transaction.updateTable('record').where('id', '=', id ?? '');
    await rival.set((record) => ({ stored_bytes: record('stored_bytes', '-', bytes) })).execute();
  }
  return replacedBytes.values().reduce((sum, bytes) => sum + bytes, 0);
}
