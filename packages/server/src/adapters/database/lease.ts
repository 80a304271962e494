import { type RawBuilder, sql } from 'kysely';
import type { Held, Lease } from '../../jobs/job.ts';
import type { Database } from './database.ts';

/*
 * Claiming and holding rows that are jobs. Tables whose rows wait in a queue (`record`, `collection_vector`) have the
 * columns lease_owner, lease_until, attempt and run_after.
 */

export type LeaseTimes = Pick<Lease, 'now' | 'leaseUntil'>;

/** Nobody works on the row, and its time has come. */
export function isClaimable(lease: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(${isDue('run_after', lease.now)} and ${isFree('lease_until', lease)})`;
}

/** What a claim sets. */
export const claimedBy = ({ token, leaseUntil }: Lease) => ({
  lease_owner: token,
  lease_until: leaseUntil,
  attempt: sql<number>`attempt + 1`,
});

/** What the end of a lease sets. */
export const noLease = { lease_owner: null, lease_until: null } as const;

/** The row is still held by this claim. */
export function isHeldBy({ token }: Pick<Held, 'token'>): RawBuilder<boolean> {
  return sql<boolean>`lease_owner = ${token}`;
}

/** Ends a select of rows to claim. SQLite writes one transaction at a time: two claims cannot meet there. */
export function skipLocked(dialect: Database['dialect']): RawBuilder<unknown> {
  return dialect === 'postgres' ? sql`for update skip locked` : sql``;
}

/** Milliseconds after which deferred work is due at the latest; every back-off is shorter. */
const longestBackoffMs = 3_600_000;

/**
 * Prolongs the lease of a row, which `set` includes. A transaction of this process may have locked the row: the one
 * connection for leases does not wait for it. @returns false when the lease is lost
 */
export async function renewLease(
  { leases, dialect }: Pick<Database, 'leases' | 'dialect'>,
  { table, key }: { table: string; key: string },
  held: Held,
  set: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const mine = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(key)} = ${held.id} and ${isHeldBy(held)}`;
  const changes = Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  const { rows } = await sql`update ${sql.table(table)} set ${sql.join(changes)}
    where ${sql.ref(key)} in (${mine} ${skipLocked(dialect)}) returning ${sql.ref(key)}`.execute(leases);
  return rows.length > 0 || (await mine.execute(leases)).rows.length > 0;
}

/** No process holds the lease: there is none, or it has expired. */
export function isFree(column: string, times: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} is null or ${isOver(column, times)})`;
}

/**
 * It has expired, or it lies further in the future than a lease can, because a clock that was ahead wrote it. Twice the length of a
 * lease, because the clocks of two processes differ a little.
 */
export function isOver(column: string, { now, leaseUntil }: LeaseTimes): RawBuilder<boolean> {
  const furthest = leaseUntil + (leaseUntil - now);
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${furthest})`;
}

/** It is due, or lies further in the future than any back-off. */
export function isDue(column: string, now: number): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${now + longestBackoffMs})`;
}
