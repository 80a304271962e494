import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Returns the number of chunks in the segments of a collection. It includes removed chunks that no merge has dropped. */
export async function sumSegments(db: Kysely<Tables>, collectionId: string): Promise<number> {
  const { chunks } = await db
    .selectFrom('index_segment')
    .select((all) => all.fn.sum<number | string | null>('chunks').as('chunks'))
    .where('collection_id', '=', collectionId)
    .where('state', '=', 'live')
    .executeTakeFirstOrThrow();
  return Number(chunks ?? 0);
}
