import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/*
 * The key of `pair_key` consists of the end of the collection's id and the beginning of the pair's key, which is a digest. Both
 * parts may be truncated, because the chunk contains the full values.
 */
const idLength = 24;
const partLength = 6;

/** Returns the common prefix of all keys of a collection. */
const startOfKeys = (collectionId: string) => collectionId.slice(idLength - partLength);

/** Returns the value in `pair_key` for a pair. */
export function toPairKey(collectionId: string, rowKey: string): string {
  return startOfKeys(collectionId) + rowKey.slice(0, partLength);
}

/** Computes the same value in SQL. */
export function pairKeyOf(collectionId: string, rowKey: string) {
  return sql<string>`${startOfKeys(collectionId)} || substr(${sql.ref(rowKey)}, 1, ${sql.lit(partLength)})`;
}

/** Inserts the keys of all chunks in SQLite, where they are in a table of their own. */
export async function insertAllKeys(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom('pair_key').execute();
  await sql`insert into pair_key (key, seq)
    select substr(collection_id, ${sql.lit(idLength - partLength + 1)}) || substr(row_key, 1, ${sql.lit(partLength)}) as key, seq
    from chunk where row_key is not null order by key`.execute(db);
}
