import { type Kysely, sql } from 'kysely';
import { fromBytes } from '../../../stores/search/embedding/vectors.ts';
import type { KnownTexts, VectorSlot } from '../../../stores/search/vector-repository.ts';
import type { Tables } from '../../database/tables.ts';
import { slots, vectorTable } from './vector-sets.ts';

/** The vectors of a text that are looked at. Those of sets that are not in use do not count. */
const looksAt = 8;

/** The row of a set is `setId`. */
const idOfSet = (slot: VectorSlot) => (slot === 0 ? sql`found.collection_id` : sql`found.collection_id || '.1'`);

/** Finds one vector of each text, along the index of the keys. The key contains the model. */
export async function findCopies(
  read: Kysely<Tables>,
  { projectId, texts }: KnownTexts,
): Promise<Map<string, Float32Array>> {
  if (texts.size === 0) return new Map();
  const keys = [...texts.keys()].map((key) => sql`(cast(${key} as bigint))`);
  const ofSlot = (slot: VectorSlot) => sql`
    select wanted.text_key, source.vector, coalesce(chunk.question, chunk.content) as text
    from wanted
    join ${sql.table(vectorTable(slot))} source on source.seq = (
      select found.seq from (
        select seq, collection_id, change from ${sql.table(vectorTable(slot))} same
        where same.text_key = wanted.text_key limit ${sql.lit(looksAt)}
      ) found
      join collection_vector on collection_vector.id = ${idOfSet(slot)}
      where collection_vector.role <> 'kept' and found.change > collection_vector.first_change
      limit 1
    )
    join chunk on chunk.seq = source.seq and chunk.project_id = ${projectId}
    where source.vector is not null`;
  const { rows } = await sql<{ text_key: number; vector: Uint8Array; text: string }>`
    with wanted (text_key) as (values ${sql.join(keys)})
    ${sql.join(slots.map(ofSlot), sql` union all `)}`.execute(read);
  // Texts with the same key may differ.
  return new Map(
    rows.flatMap(({ text_key, vector, text }) =>
      texts.get(Number(text_key)) === text ? [[text, fromBytes(vector)] as const] : [],
    ),
  );
}
