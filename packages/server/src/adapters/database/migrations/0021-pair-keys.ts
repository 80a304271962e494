import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/**
 * Moves the keys of pairs to their own table, where they are inserted in order and in batches. The table is filled
 * along the index that it replaces, so nothing is sorted: a million pairs take a few seconds and 30 MB. One transaction
 * copies all keys, because a pair without its key would be imported twice. Source:
 * ADR 0052.
 */
export function createPairKeysMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const text = sqlite ? 'text' : 'text collate "C"';
  const whole = sqlite ? 'integer' : 'bigint';
  const statements = [
    `create table pair_key (
      key ${text} not null,
      seq ${whole} not null,
      primary key (key, seq)
    ${sqlite ? ') strict, without rowid' : ')'}`,
    `insert into pair_key (key, seq)
      select substr(collection_id, 19) || substr(row_key, 1, 6), seq from chunk
      where row_key is not null order by collection_id, row_key`,
    'drop index chunk_of_row',
    `alter table record add column keyed_to ${whole}`,
  ];
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
