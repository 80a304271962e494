import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** The expression of `toPairKey`. */
const key = 'substr(collection_id, 19) || substr(row_key, 1, 6)';

/**
 * Makes an import write less to the write-ahead log of PostgreSQL. An index of the chunks replaces the table of keys, whose rows
 * would repeat it. The nodes of the previous version still insert and delete keys during a rolling upgrade.
 */
const inPostgres: readonly string[] = [
  'drop table pair_key',
  `create index chunk_of_pair on chunk ((${key})) where row_key is not null`,
  `create view pair_key as select ${key} as key, seq from chunk where row_key is not null`,
  'create rule pair_key_insert as on insert to pair_key do instead nothing',
  'create rule pair_key_delete as on delete to pair_key do instead nothing',
  'analyze chunk', // without statistics of the keys, plans read all chunks
];

export function replacePairKeys(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of dialect === 'postgres' ? inPostgres : []) await sql.raw(statement).execute(db);
    },
  };
}
