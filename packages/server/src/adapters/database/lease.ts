import { type RawBuilder, sql } from 'kysely';

/** Of a claim that is about to be made. */
export interface LeaseTimes {
  readonly now: number;
  readonly leaseUntil: number;
}

/** Milliseconds after which work that was put off is due at the latest; every back-off is shorter. */
const longestBackoffMs = 3_600_000;

/** No process holds the lease: there is none, or it is over. */
export function isFree(column: string, times: LeaseTimes): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} is null or ${isOver(column, times)})`;
}

/**
 * Its time is over, or it lies further ahead than a lease can: a clock that was ahead has left it. Twice the length of a
 * lease, because the clocks of two processes differ a little.
 */
export function isOver(column: string, { now, leaseUntil }: LeaseTimes): RawBuilder<boolean> {
  const furthest = leaseUntil + (leaseUntil - now);
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${furthest})`;
}

/** Its time has come, or lies further ahead than any back-off. */
export function isDue(column: string, now: number): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${now + longestBackoffMs})`;
}
