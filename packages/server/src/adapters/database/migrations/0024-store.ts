import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';

/** Adds the identity of the store: one row names the data folder and the encryption key that belong to the database. */
export function createStoreMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  return {
    async up(db) {
      const table = `create table store (
        one integer primary key not null check (one = 1),
        id text not null,
        folder_id text,
        encryption_key_id text
      ${sqlite ? ') strict' : ')'}`;
      await sql.raw(table).execute(db);
      await sql`insert into store (one, id) values (1, ${randomUUID()})`.execute(db);
    },
  };
}
