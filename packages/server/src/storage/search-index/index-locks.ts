import { type Kysely, sql } from 'kysely';
import type { Tables } from '../database/tables.ts';

/*
 * Advisory locks of PostgreSQL. Each ends with its transaction, so that it also works behind a pooler that shares
 * sessions. With SQLite, write transactions run one after another and need none. The first half of a key separates these
 * locks from others, the second half is the collection.
 */
const changeClass = 1_771_044_113;

/**
 * Makes steps of a rebuild of the collection wait until the transaction ends. Any number of transactions hold this lock
 * at the same time. What a later statement reads about the rebuild is then true until the transaction ends.
 */
export async function holdOffRebuild(db: Kysely<Tables>, collectionId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(changeClass)}, hashtext(${collectionId}))`.execute(db);
}

/** Waits for all transactions that change the index of the collection, and makes later ones wait. */
export async function holdOffChanges(db: Kysely<Tables>, collectionId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(changeClass)}, hashtext(${collectionId}))`.execute(db);
}
