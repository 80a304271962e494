import { type RawBuilder, sql } from 'kysely';

/** The values of a new claim. */
export interface LeaseTimes {
  readonly now: number;
  readonly leaseUntil: number;
}

/** Milliseconds after which deferred work is due at the latest; every back-off is shorter. */
const longestBackoffMs = 3_600_000;

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
