import { type RawBuilder, sql } from 'kysely';
import type { Claim, Lease } from '../../platform/jobs/job.ts';
import { silentMs } from '../../platform/nodes/node-repository.ts';
import type { Database } from './database.ts';
import { databaseNow } from './like-pattern.ts';

/*
 * Claims and leases of rows that are jobs. Tables whose rows wait in a queue (`record`, `collection_vector`) have the
 * columns lease_owner, lease_until, attempt and run_after.
 */

export type LeaseTimes = Pick<Lease, 'now' | 'leaseUntil'>;

/** True when no process works on the row and its `run_after` time has come. */
export function isClaimable(lease: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(${isDue('run_after', lease.now)} and ${isFree('lease_until', lease)})`;
}

/** The columns that a claim sets. */
export const claimedBy = ({ token, leaseUntil }: Lease) => ({
  lease_owner: token,
  lease_until: leaseUntil,
  attempt: sql<number>`attempt + 1`,
});

/** The columns that the end of a lease sets. */
export const noLease = { lease_owner: null, lease_until: null } as const;

/** True while this claim still holds the row. */
export function isHeldBy({ token }: Pick<Claim, 'token'>): RawBuilder<boolean> {
  return sql<boolean>`lease_owner = ${token}`;
}

/** Ends a select of rows to claim. SQLite needs no clause, because it runs one write transaction at a time. */
export function skipLocked(dialect: Database['dialect']): RawBuilder<unknown> {
  return dialect === 'postgres' ? sql`for update skip locked` : sql``;
}

/** The upper bound of every back-off, in milliseconds. Deferred work is due after this time at the latest. */
const longestBackoffMs = 3_600_000;

/**
 * Extends the lease of a row; `set` contains the new values. When a transaction of this process has locked the row, the
 * connection for leases does not wait for it.
 * @returns false when the lease is lost
 */
export async function renewLease(
  { leases, dialect }: Pick<Database, 'leases' | 'dialect'>,
  { table, key }: { table: string; key: string },
  held: Claim,
  set: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const mine = sql`select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(key)} = ${held.id} and ${isHeldBy(held)}`;
  const changes = Object.entries(set).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  const { rows } = await sql`update ${sql.table(table)} set ${sql.join(changes)}
    where ${sql.ref(key)} in (${mine} ${skipLocked(dialect)}) returning ${sql.ref(key)}`.execute(leases);
  return rows.length > 0 || (await mine.execute(leases)).rows.length > 0;
}

/** True when no process holds the lease: there is none, or it has expired. */
export function isFree(column: string, times: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} is null or ${isOver(column, times)})`;
}

/**
 * True when the lease has expired, or when it ends later than a lease can end. A process whose clock was ahead may have
 * written it. The bound is twice the length of a lease, because clocks differ slightly.
 */
export function isOver(column: string, { now, leaseUntil }: LeaseTimes): RawBuilder<boolean> {
  const furthest = leaseUntil + (leaseUntil - now);
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${furthest})`;
}

/**
 * True when the process with this id has a row, has not stopped, and has written a heartbeat in the last 8 s. With SQLite there are no
 * heartbeats: the next process that serves files replaces the row.
 */
export function isNodeRunning(dialect: Database['dialect'], nodeId: RawBuilder<unknown>): RawBuilder<boolean> {
  const isHeard = dialect === 'sqlite' ? sql`` : sql`and node.heartbeat_at > ${databaseNow(dialect)} - ${silentMs}`;
  return sql<boolean>`exists (select 1 from node where node.id = ${nodeId} and node.stopped_at is null ${isHeard})`;
}

/** True when the time has come, or when it is further in the future than any back-off. */
export function isDue(column: string, now: number): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${now + longestBackoffMs})`;
}
