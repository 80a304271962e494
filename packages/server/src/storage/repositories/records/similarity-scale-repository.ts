import { sql } from 'kysely';
import { fromBytes } from '../../../stores/search/embedding/vectors.ts';
import { maxProbedText } from '../../../stores/search/query/similarity-scale.ts';
import type { SimilarityScaleRepository } from '../../../stores/search/similarity-scale-repository.ts';
import type { Database } from '../../database/database.ts';
import { asChunkVector } from './vector-sets.ts';

/** Stores the scales in either database. */
export function createSimilarityScaleRepository({ read, write }: Database): SimilarityScaleRepository {
  return {
    async find(collectionId) {
      const row = await read
        .selectFrom('similarity_scale')
        .selectAll()
        .where('collection_id', '=', collectionId)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { collection_id, first_change: firstChange, last_change: lastChange, ...scale } = row;
      return { collectionId: collection_id, firstChange, lastChange, ...scale };
    },
    async save({ collectionId, firstChange, lastChange, model, unrelated, related, weight, share }) {
      const whole = (value: number) => sql`cast(${value} as bigint)`;
      const real = (value: number) => sql`cast(${value} as double precision)`;
      // A collection that is gone gets no row.
      await sql`insert into similarity_scale
          (collection_id, model, first_change, last_change, unrelated, related, weight, share)
        select id, ${model}, ${whole(firstChange)}, ${whole(lastChange)},
          ${real(unrelated)}, ${real(related)}, ${real(weight)}, ${real(share)}
        from collection where id = ${collectionId}
        on conflict (collection_id) do update set model = excluded.model, first_change = excluded.first_change,
          last_change = excluded.last_change, unrelated = excluded.unrelated, related = excluded.related,
          weight = excluded.weight, share = excluded.share`.execute(write);
    },
    async sample({ collectionId, slot, firstChange }, limit) {
      // The index has these columns, so that a large collection is scanned without its vectors.
      const seqs = read
        .selectFrom(asChunkVector(slot))
        .select('seq')
        .where('collection_id', '=', collectionId)
        .where('change', '>', firstChange)
        .orderBy(sql`(seq * 48271) % 2147483647`)
        .orderBy('seq')
        .limit(limit);
      const rows = await read
        .selectFrom(asChunkVector(slot))
        .innerJoin('chunk', 'chunk.seq', 'chunk_vector.seq')
        .select((column) => [
          'chunk_vector.vector',
          sql<string>`substr(${column.fn.coalesce('chunk.question', 'chunk.content')}, 1, ${sql.lit(maxProbedText)})`.as(
            'text',
          ),
        ])
        .where('chunk_vector.seq', 'in', seqs)
        .orderBy(sql`(chunk_vector.seq * 48271) % 2147483647`)
        .orderBy('chunk_vector.seq')
        .execute();
      return rows.map(({ text, vector }) => ({ text, vector: vector && fromBytes(vector) }));
    },
  };
}
