import { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import type { MergeThread } from '../search-index/index-merger.ts';
import { continueMerge, startMerge } from '../search-index/search-thread.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import type { SqliteThread } from './sqlite-thread.ts';

/** Merges in the thread of a read connection of its own. */
export function createSqliteMergeThread(thread: SqliteThread): MergeThread {
  const db = new Kysely<Tables>({ dialect: createSqliteDialect([thread]) });
  return {
    start: (parts) => startMerge(db, parts),
    next: (pages) => continueMerge(db, pages),
    close: () => thread.close(),
  };
}
