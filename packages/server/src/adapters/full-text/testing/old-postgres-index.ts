import { sql, type Transaction } from 'kysely';
import { postgresFullText } from '../../database/migrations/0001-first.ts';
import type { Tables } from '../../database/tables.ts';

/** Creates the index of an earlier version in an empty collection, and the tables that a store without one has not. */
export async function createOldPostgresIndex(db: Transaction<Tables>, collectionId: string): Promise<void> {
  for (const statement of postgresFullText) {
    await sql.raw(statement.replace('create table', 'create table if not exists')).execute(db);
  }
  await db.insertInto('full_text').values({ collection_id: collectionId, chunks: 0, words: 0 }).execute();
}
