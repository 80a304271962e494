import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/*
 * Advisory locks of PostgreSQL. Each ends with its transaction, so that it also works behind a pooler that shares
 * sessions. With SQLite, write transactions run one after another and need none. The first half of a key separates these
 * locks from others, the second half is the collection.
 */
const mergeClass = 1_771_044_112;
const changeClass = 1_771_044_113;
const rebuildClass = 1_771_044_114;

/** Returns false when another transaction claims a merge of the collection. */
export async function tryLockMerges(transaction: Transaction<Tables>, collectionId: string): Promise<boolean> {
  return tryLock(transaction, sql`${sql.lit(mergeClass)}, hashtext(${collectionId})`);
}

/** Returns false when another process does a step of a rebuild. */
export async function tryLockRebuilds(transaction: Transaction<Tables>): Promise<boolean> {
  return tryLock(transaction, sql`${sql.lit(rebuildClass)}, 0`);
}

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

async function tryLock(transaction: Transaction<Tables>, key: ReturnType<typeof sql>): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${key}) as locked`.execute(
    transaction,
  );
  return rows[0]?.locked === true;
}
