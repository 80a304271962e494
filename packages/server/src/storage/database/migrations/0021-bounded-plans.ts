import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Few rows have an entry in these indexes, so that an import pays nothing for them. */
const statements: readonly string[] = [
  'create index chunk_edited on chunk (collection_id, id) where updated_at > created_at',
  "create index index_segment_unused on index_segment (collection_id) where state <> 'live'",
  'create index account_with_password on account (id) where password_hash is not null',
];

/** Lets lists of edited chunks, the search for unused segments and a sign-in read only the rows that they want. */
export const boundPlans: Migration = {
  async up(db) {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
