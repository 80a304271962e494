import type { Kysely } from 'kysely';
import { askThread } from '../database/sqlite-insert-many.ts';
import type { Tables } from '../database/tables.ts';
import type { Procedures } from './thread-procedures.ts';

/** Runs a procedure of `thread-procedures.ts` in the thread of a SQLite connection. */
export function askIndex<Name extends keyof Procedures>(
  db: Kysely<Tables>,
  procedure: Name,
  argument: Parameters<Procedures[Name]>[0],
): Promise<ReturnType<Procedures[Name]>> {
  return askThread(db, { procedure, argument });
}
