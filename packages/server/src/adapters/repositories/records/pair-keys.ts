import { type Kysely, sql, type Transaction } from 'kysely';
import type { NewChunk } from '../../../collections/chunks/chunk-repository.ts';
import type { RecordJob } from '../../../ingestion/record-job-repository.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';

/*
 * Where pairs with a key are: `pair_key` has the end of the collection's id and the beginning of the pair's key, which is
 * a digest, and the chunk. Keys come in no order, so entering each pair's at once would change most pages of the table in
 * each transaction; nobody asks for those of an unfinished generation, so they are entered many at a time, in order, and
 * before the switch at the latest (ADR 0052). Neither part need be whole: the chunk says what it is.
 */
const idLength = 24;
const partLength = 6;

/** Keys of so many ordinals are entered in one transaction: other writers wait as long as it takes. */
const pairsAtOnce = 20_000;
/** Before the first ordinal. */
export const noKeys = -1;

/** Whether it is time to enter the keys of a record's pairs. `keyedTo` is null where they have none. */
export function areManyWaiting(keyedTo: number | null, chunks: readonly NewChunk[]): boolean {
  const last = chunks.at(-1)?.ordinal;
  return last !== undefined && keyedTo !== null && last - keyedTo >= pairsAtOnce;
}

/** Before the parts of row keys of a collection. */
const startOfKeys = (collectionId: string) => collectionId.slice(idLength - partLength);

/** What `pair_key` has for a pair. */
export function toPairKey(collectionId: string, rowKey: string): string {
  return startOfKeys(collectionId) + rowKey.slice(0, partLength);
}

/** The same in SQL. */
export function pairKeyOf(collectionId: string, rowKey: string) {
  return sql<string>`${startOfKeys(collectionId)} || substr(${sql.ref(rowKey)}, 1, ${sql.lit(partLength)})`;
}

/** The unfinished generation of a record, and up to where its keys are entered. */
export interface Keying {
  readonly job: RecordJob;
  /** null: its chunks have no keys. */
  readonly keyedTo: number | null;
}

/** Enters the keys that are not entered yet. Whoever calls holds the record's row. */
export async function enterKeys(transaction: Transaction<Tables>, { job, keyedTo }: Keying): Promise<void> {
  if (keyedTo === null) return;
  const of = { record: job.id, generation: job.generation + 1 };
  const { last } = await transaction
    .selectFrom('chunk')
    .select((column) => column.fn.max<number | null>('ordinal').as('last'))
    .where('record_id', '=', of.record)
    .where('generation', '=', of.generation)
    .executeTakeFirstOrThrow();
  if (last === null || last <= keyedTo) return;
  await sql`insert into pair_key (key, seq)
    select ${pairKeyOf(job.collectionId, 'row_key')}, seq from chunk
    where record_id = ${of.record} and generation = ${of.generation} and ordinal > ${keyedTo}
      and row_key is not null
    order by row_key
    on conflict do nothing`.execute(transaction);
  await transaction.updateTable('record').set({ keyed_to: last }).where('id', '=', job.id).execute();
}

/** A chunk that is gone. */
export interface Keyed {
  readonly seq: number;
  readonly collection_id: string;
  readonly row_key: string | null;
}

/** Forgets the keys of chunks that are removed in the same transaction. */
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

/** Where chunks with these keys are, and a few others. */
export function findKeys(db: Kysely<Tables>, collectionId: string, rowKeys: readonly string[]) {
  const keys = rowKeys.map((rowKey) => toPairKey(collectionId, rowKey));
  return db.selectFrom('pair_key').where('pair_key.key', 'in', keys);
}
