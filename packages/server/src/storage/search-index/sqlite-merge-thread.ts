import { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { createSqliteDialect } from '../sqlite/sqlite-dialect.ts';
import type { SqliteThread } from '../sqlite/sqlite-thread.ts';
import type { MergeThread } from './index-merger.ts';
import { continueMerge, startMerge } from './search-thread.ts';

/** Merges in the thread of a read connection of its own. */
export function createSqliteMergeThread(thread: SqliteThread): MergeThread {
  const db = new Kysely<Tables>({ dialect: createSqliteDialect([thread]) });
  return {
    start: (parts) => startMerge(db, parts),
    next: (pages) => continueMerge(db, pages),
    close: () => thread.close(),
  };
}
