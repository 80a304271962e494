import { type Kysely, sql, type Transaction } from 'kysely';
import type { NewChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import type { Database } from '../../database/database.ts';
import { pairKeyOf, toPairKey } from '../../database/pair-key.ts';
import type { Tables } from '../../database/tables.ts';

/*
 * `pair_key` finds pairs by their key. In PostgreSQL it is a view, and an index of `chunk` contains the keys. In SQLite it is a
 * table. Keys arrive in random order, so inserting each at once would change most pages of the table in each transaction. The
 * keys of an unfinished generation are not queried. They are therefore inserted in sorted batches, at the latest before the
 * switch (ADR 0126).
 */

/** The keys of this many ordinals are inserted in one transaction. Other writers wait for it. */
const pairsAtOnce = 20_000;
/** The position before the first ordinal. */
const noKeys = -1;

/** The value of `keyed_to` for a generation without inserted keys. Null when none will be inserted. */
export function firstKeyedTo(dialect: Database['dialect'], chunks: readonly NewChunk[]): number | null {
  return dialect === 'sqlite' && chunks.some(({ rowKey }) => rowKey !== undefined) ? noKeys : null;
}

/** Returns whether a batch of keys should be inserted now. `keyedTo` is null for pairs without keys. */
export function isKeyBatchDue(keyedTo: number | null, chunks: readonly NewChunk[]): boolean {
  const last = chunks.at(-1)?.ordinal;
  return last !== undefined && keyedTo !== null && last - keyedTo >= pairsAtOnce;
}

/** The unfinished generation of a record, and the ordinal up to which its keys are inserted. */
export interface KeyInsertion {
  readonly job: RecordJob;
  /** Null when the chunks have no keys. */
  readonly keyedTo: number | null;
}

/** Inserts the remaining keys. The caller holds the lock on the record's row. */
export async function insertKeys(transaction: Transaction<Tables>, { job, keyedTo }: KeyInsertion): Promise<void> {
  if (keyedTo === null) return;
  const of = { record: job.id, generation: job.generation + 1 };
  const { last } = await transaction
    .selectFrom('chunk')
    .select((column) => column.fn.max<number | null>('ordinal').as('last'))
    .where('record_id', '=', of.record)
    .where('generation', '=', of.generation)
    .executeTakeFirstOrThrow();
  if (last === null || last <= keyedTo) return;
  const key = pairKeyOf(job.collectionId, 'row_key');
  // A migration, or a move, may have inserted some.
  await sql`insert into pair_key (key, seq)
    select ${key}, seq from chunk
    where record_id = ${of.record} and generation = ${of.generation} and ordinal > ${keyedTo}
      and row_key is not null
      and not exists (select 1 from pair_key as known where known.key = ${key} and known.seq = chunk.seq)
    order by row_key`.execute(transaction);
  await transaction.updateTable('record').set({ keyed_to: last }).where('id', '=', job.id).execute();
}

/** A deleted chunk. */
export interface Keyed {
  readonly seq: number;
  readonly collection_id: string;
  readonly row_key: string | null;
}

/** Deletes the keys of chunks that are removed in the same transaction. */
export async function removeKeys(
  transaction: Transaction<Tables>,
  dialect: Database['dialect'],
  chunks: readonly Keyed[],
): Promise<void> {
  const entries = chunks.flatMap(({ seq, collection_id, row_key }) =>
    row_key === null ? [] : [[toPairKey(collection_id, row_key), seq]],
  );
  if (entries.length === 0 || dialect === 'postgres') return;
  const removed = sql`select value ->> 0, value ->> 1 from json_each(${JSON.stringify(entries)})`;
  await sql`delete from pair_key where (key, seq) in (${removed})`.execute(transaction);
}

/** Finds candidates for these keys. The truncated keys may match a few other chunks too. */
export function findKeys(db: Kysely<Tables>, collectionId: string, rowKeys: readonly string[]) {
  const keys = rowKeys.map((rowKey) => toPairKey(collectionId, rowKey));
  return db.selectFrom('pair_key').where('pair_key.key', 'in', keys);
}
