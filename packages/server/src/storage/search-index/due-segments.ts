import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** A collection with fewer segments needs no merge. */
const leastSegments = 8;

/** Returns the collections that earlier processes left unmerged. */
export async function findUnmerged(write: Kysely<Tables>): Promise<string[]> {
  const rows = await write
    .selectFrom('index_segment')
    .select('collection_id')
    .groupBy('collection_id')
    .having((having) =>
      having.or([
        having(having.fn.countAll<number>(), '>=', leastSegments),
        having(having.fn.max('state'), '=', 'retired'),
        having(having.fn.min('state'), '=', 'building'),
      ]),
    )
    .execute();
  return rows.map((row) => row.collection_id);
}

/** Returns the collections with segments that may be deleted now. */
export async function findExpired(write: Kysely<Tables>, now: number): Promise<string[]> {
  const rows = await write
    .selectFrom('index_segment')
    .select('collection_id')
    .distinct()
    .where('state', '=', 'retired')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '<=', now)]))
    .execute();
  return rows.map((row) => row.collection_id);
}
