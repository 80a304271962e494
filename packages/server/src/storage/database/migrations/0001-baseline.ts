import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import { accessTables, fileTables, serviceTables } from './0001-baseline/access-tables.ts';
import { collectionTables, searchTables } from './0001-baseline/collection-tables.ts';
import { runTables } from './0001-baseline/run-tables.ts';

/** What a `$word` of a statement means. PostgreSQL compares ids byte by byte, as SQLite does, so that both sort alike. */
const words = {
  sqlite: {
    id: 'text',
    whole: 'integer',
    real: 'real',
    bytes: 'blob',
    counter: 'integer primary key autoincrement not null',
    later: 'deferrable initially deferred',
    end: ') strict',
    end_without_rowid: ') strict, without rowid',
  },
  postgres: {
    id: 'text collate "C"',
    whole: 'bigint',
    real: 'double precision',
    bytes: 'bytea',
    counter: 'bigint generated always as identity primary key',
    later: 'deferrable initially deferred',
    end: ')',
    end_without_rowid: ')',
  },
} as const;
type Word = keyof (typeof words)['sqlite'];

/** The pages are compressed already, and parts of them are read. */
const storageInPostgres = [['index_page', 'data']].map(
  ([table, column]) => `alter table ${table} alter column ${column} set storage external`,
);

/** Replaces each `$word` of the statements. */
export function inDialect(statements: readonly string[], dialect: Database['dialect']): string[] {
  return statements.map((text) => text.replaceAll(/\$(\w+)/g, (_, word: Word) => words[dialect][word]));
}

/** The statements that create the tables of a new store. A later table may refer to an earlier one. */
export function baselineStatements(dialect: Database['dialect']): string[] {
  const tables = [serviceTables, accessTables, fileTables, collectionTables, searchTables, runTables].flat();
  const statements = inDialect(tables, dialect);
  return dialect === 'postgres' ? [...statements, ...storageInPostgres] : statements;
}

/** Creates the tables of `tables.ts`. */
export function createBaseline(dialect: Database['dialect']): Migration {
  return {
    async up(db) {
      for (const statement of baselineStatements(dialect)) await sql.raw(statement).execute(db);
      await sql`insert into store (one, id) values (1, ${randomUUID()})`.execute(db);
    },
  };
}
