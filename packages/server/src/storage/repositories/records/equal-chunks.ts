import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../database/tables.ts';
import { changeCounts } from './vector-counts.ts';
import { setId, slots, vectorTable } from './vector-sets.ts';

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
