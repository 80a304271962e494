import type { Kysely } from 'kysely';
import type { Statistics } from '../../search/search-index.ts';
import type { Tables } from '../database/tables.ts';

export const noStatistics: Statistics = { chunks: 0, words: 0 };

export async function findStatistics(db: Kysely<Tables>, collectionId: string): Promise<Statistics | undefined> {
  return db
    .selectFrom('full_text')
    .select(['chunks', 'words'])
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
}

/**
 * Adds a change to the statistics. In PostgreSQL this also locks the collection's index until the transaction ends, so
 * that additions and removals run one at a time.
 */
export async function countIn(db: Kysely<Tables>, collectionId: string, change: Statistics): Promise<void> {
  await db
    .updateTable('full_text')
    .set((set) => ({ chunks: set('chunks', '+', change.chunks), words: set('words', '+', change.words) }))
    .where('collection_id', '=', collectionId)
    .execute();
}
