import { type Kysely, sql, type Transaction } from 'kysely';
import type { NewChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';

/*
 * `pair_key` finds pairs by their key. Its key consists of the end of the collection's id and the beginning of the
 * pair's key, which is a digest. Keys arrive in random order, so inserting each at once would change most pages of the
 * table in each transaction. The keys of an unfinished generation are not queried. They are therefore inserted in
 * sorted batches, at the latest before the switch (ADR 0126). Both parts may be truncated, because the chunk contains
 * the full values.
 */
const idLength = 24;
const partLength = 6;

/** The keys of this many ordinals are inserted in one transaction. Other writers wait for it. */
const pairsAtOnce = 20_000;
/** The position before the first ordinal. */
export const noKeys = -1;

/** Returns whether a batch of keys should be inserted now. `keyedTo` is null for pairs without keys. */
export function isKeyBatchDue(keyedTo: number | null, chunks: readonly NewChunk[]): boolean {
  const last = chunks.at(-1)?.ordinal;
  return last !== undefined && keyedTo !== null && last - keyedTo >= pairsAtOnce;
}

/** Returns the common prefix of all keys of a collection. */
const startOfKeys = (collectionId: string) => collectionId.slice(idLength - partLength);

/** Returns the value in `pair_key` for a pair. */
export function toPairKey(collectionId: string, rowKey: string): string {
  return startOfKeys(collectionId) + rowKey.slice(0, partLength);
}

/** Computes the same value in SQL. */
export function pairKeyOf(collectionId: string, rowKey: string) {
  return sql<string>`${startOfKeys(collectionId)} || substr(${sql.ref(rowKey)}, 1, ${sql.lit(partLength)})`;
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
  // A migration may have inserted some. PostgreSQL writes a third more to its log with "on conflict do nothing".
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
  if (entries.length === 0) return;
  const list = JSON.stringify(entries);
  const removed =
    dialect === 'sqlite'
      ? sql`select value ->> 0, value ->> 1 from json_each(${list})`
      : sql`select value ->> 0, (value ->> 1)::bigint from json_array_elements(${list}::json)`;
  await sql`delete from pair_key where (key, seq) in (${removed})`.execute(transaction);
}

/** Finds candidates for these keys. The truncated keys may match a few other chunks too. */
export function findKeys(db: Kysely<Tables>, collectionId: string, rowKeys: readonly string[]) {
  const keys = rowKeys.map((rowKey) => toPairKey(collectionId, rowKey));
  return db.selectFrom('pair_key').where('pair_key.key', 'in', keys);
}
