import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../../database.ts';

/** Adds the processes that serve the store, with their heartbeats. ADR 0164. */
export function createNodesMigration(dialect: Database['dialect']): Migration {
  const sqlite = dialect === 'sqlite';
  const whole = sqlite ? 'integer' : 'bigint';
  return {
    async up(db) {
      const table = `create table node (
        id ${sqlite ? 'text' : 'text collate "C"'} primary key not null,
        serves text not null,
        host text not null,
        version text not null,
        folder_instance text not null,
        started_at ${whole} not null,
        heartbeat_at ${whole} not null,
        stopped_at ${whole}
      ${sqlite ? ') strict, without rowid' : ')'}`;
      await sql.raw(table).execute(db);
    },
  };
}
