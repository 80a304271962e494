import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log/logger.ts';
import type { Tables } from '../database/tables.ts';

/** Milliseconds between two measurements. */
const measureEveryMs = 5_000;
/** Slower measurements are discarded, because their error grows with their duration. */
const slowestMs = 1_000;
/** Smaller differences are caused by network delay and are ignored. */
const leastChangeMs = 10;
/** A larger difference between the two clocks is logged as a warning. */
const warnAboveMs = 2_000;

/** The clock of the database server. Processes that compare times, for example of leases, then use the same time. */
export interface PostgresClock extends Clock {
  /** Milliseconds by which the clock of this machine is ahead. */
  skew(): number;
  close(): Promise<void>;
}

export interface PostgresClockDeps {
  readonly db: Kysely<Tables>;
  readonly local: Clock;
  readonly logger: Logger;
}

/**
 * Continues from the last measurement with the monotonic clock, so setting the clock of this machine has no effect.
 * @throws when the first measurement fails
 */
export async function openPostgresClock({ db, local, logger }: PostgresClockDeps): Promise<PostgresClock> {
  let offset = Number.NaN;
  let isWarned = false;
  const now = () => Math.round(performance.now() + offset);
  const skew = () => local.now() - now();

  async function measure(): Promise<void> {
    const sentAt = performance.now();
    const { rows } = await sql<{ now: number }>`
      select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
    const answered = performance.now();
    const measured = Number(rows[0]?.now) - (sentAt + answered) / 2;
    const isFirst = Number.isNaN(offset);
    if (!isFirst && answered - sentAt > slowestMs) return;
    if (isFirst || Math.abs(measured - offset) > leastChangeMs + (answered - sentAt) / 2) offset = measured;
    warn();
  }
  function warn(): void {
    const isFar = Math.abs(skew()) > warnAboveMs;
    if (isFar && !isWarned) logger.warn({ skew_ms: skew() }, 'clock differs from the database');
    isWarned = isFar;
  }

  await measure();
  let measuring: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // The previous measurement is used while the database is unavailable.
    measuring = measure().catch(() => {});
  }, measureEveryMs);
  timer.unref();
  return {
    now,
    skew,
    close: async () => {
      clearInterval(timer);
      await measuring;
    },
  };
}
