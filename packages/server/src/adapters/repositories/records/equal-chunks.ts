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
        where old.record_id = ${recordId} and old.generation = ${generation}) as equal_chunks`.execute(transaction);
  const [row] = rows;
  return Number(row?.visible_chunks) === numChunks && Number(row?.equal_chunks) === numChunks;
}

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
      with old as materialized (
        select chunk.content as content, min(chunk.seq) as seq from chunk join ${vectors} stored on stored.seq = chunk.seq
        where chunk.record_id = ${recordId} and chunk.generation = ${generation}
          and stored.vector is not null and stored.change > ${set.first_change}
        group by chunk.content
      )
      insert into ${vectors} (seq, collection_id, change, code, vector, reason, retry_at, failures, tokens, text_key)
      select chunk.seq, ${collectionId}, ${set.last_change}, stored.code, stored.vector, null, null, 0, 0, stored.text_key
      from chunk join old on old.content = chunk.content join ${vectors} stored on stored.seq = old.seq
      where chunk.record_id = ${recordId} and chunk.generation = ${generation + 1}`.execute(transaction);
    await changeCounts(transaction, key, { embedded: Number(copied.numAffectedRows ?? 0), refused: 0 });
  }
}
