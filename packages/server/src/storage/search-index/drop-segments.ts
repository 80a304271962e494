import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { pagesPerSegment, pagesPerTransaction } from './segment-pages.ts';

/**
 * Removes a step of a collection's segments. The first call hides all of them and ends a rebuild.
 * @returns true when nothing is left
 */
export async function dropSegments(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  await db
    .updateTable('index_segment')
    .set({ state: 'retired', expires_at: null })
    .where('collection_id', '=', collectionId)
    .where('state', '<>', 'retired')
    .execute();
  await db.deleteFrom('index_rebuild').where('collection_id', '=', collectionId).execute();
  return clearRetired(db, collectionId, Number.MAX_SAFE_INTEGER);
}

/**
 * Deletes the last pages of one expired segment, and its row with the last of them.
 * @returns true when no expired segment is left
 */
export async function clearRetired(db: Kysely<Tables>, collectionId: string, now: number): Promise<boolean> {
  const segment = await db
    .selectFrom('index_segment')
    .select(['id', 'pages'])
    .where('collection_id', '=', collectionId)
    .where('state', '=', 'retired')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '<=', now)]))
    .limit(1)
    .executeTakeFirst();
  if (segment === undefined) return true;
  const remaining = Math.max(0, segment.pages - pagesPerTransaction);
  const first = segment.id * pagesPerSegment;
  await db
    .deleteFrom('index_page')
    .where('id', '>=', first + remaining)
    .where('id', '<', first + pagesPerSegment)
    .execute();
  if (remaining === 0) await db.deleteFrom('index_segment').where('id', '=', segment.id).execute();
  else await db.updateTable('index_segment').set({ pages: remaining }).where('id', '=', segment.id).execute();
  return false;
}
