import { sql } from 'kysely';
import type { EvaluationRepository, StoredEvaluation } from '../../../stores/collections/evaluations/evaluations.ts';
import type { Database } from '../../database/database.ts';

/** Stores the last evaluation of each collection in either database. */
export function createEvaluationRepository({ read, write }: Database): EvaluationRepository {
  return {
    async find(collectionId) {
      const row = await read
        .selectFrom('evaluation')
        .select(['created_at', 'ranks', 'result'])
        .where('collection_id', '=', collectionId)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      // `save` wrote it.
      const ranks = JSON.parse(row.ranks) as StoredEvaluation['ranks'];
      const stored = row.result === null ? null : (JSON.parse(row.result) as StoredEvaluation['result']);
      // A node of the previous version replaces the other columns only.
      const result = stored?.created_timestamp === row.created_at ? stored : null;
      return { collectionId, createdAt: row.created_at, ranks, result };
    },
    async save({ collectionId, createdAt, ranks, result }) {
      // A collection that is gone gets no row.
      await sql`insert into evaluation (collection_id, created_at, ranks, result)
        select id, cast(${createdAt} as bigint), ${JSON.stringify(ranks)}, ${JSON.stringify(result)}
        from collection where id = ${collectionId}
        on conflict (collection_id)
        do update set created_at = excluded.created_at, ranks = excluded.ranks, result = excluded.result`.execute(
        write,
      );
    },
  };
}
