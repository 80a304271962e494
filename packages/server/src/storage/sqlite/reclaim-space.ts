import { setTimeout as wait } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { type PeriodicTask, type RunningTask, startPeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { Counter, type Registry } from '../../platform/metrics.ts';
import type { Tables } from '../database/tables.ts';

export interface SpaceReclaimer {
  readonly write: Kysely<Tables>;
  readonly logger: Logger;
  readonly metrics: Registry | undefined;
}

/** The number of pages that one statement reclaims. It moves at most the same number of pages, which takes a few milliseconds. */
const pagesAtOnce = 256;
const pauses = {
  /** Milliseconds for other writers between two statements. */
  betweenSteps: 50,
  /** Milliseconds between two runs. */
  betweenRuns: 10_000,
};

/**
 * Returns pages that deletions left free to the file system, in small steps. Only pages that were also free at the previous run
 * count, because the next write uses the others. The checkpoint after a step makes the file smaller.
 */
export function createReclaimTask(
  { write, logger, metrics }: SpaceReclaimer,
  { betweenSteps, betweenRuns } = pauses,
): PeriodicTask {
  const reclaimed = createCounter(metrics);
  let freeBefore = 0;
  return {
    name: 'free pages',
    pause: betweenRuns,
    async run(signal) {
      const { free, pageSize } = await readPages(write);
      let due = Math.min(free, freeBefore);
      freeBefore = free - due;
      const bytes = due * pageSize;
      while (due > 0 && !signal.aborted) {
        const pages = Math.min(due, pagesAtOnce);
        await sql.raw(`pragma incremental_vacuum(${pages})`).execute(write);
        reclaimed?.inc(pages * pageSize);
        due -= pages;
        await wait(betweenSteps, undefined, { signal }).catch(() => {});
      }
      freeBefore += due;
      if (bytes > 0) logger.debug({ bytes: bytes - due * pageSize }, 'free database pages reclaimed');
    },
  };
}

export function startReclaiming(reclaimer: SpaceReclaimer): RunningTask {
  return startPeriodicTask(createReclaimTask(reclaimer), (error) =>
    reclaimer.logger.warn({ err: error }, 'free database pages not reclaimed'),
  );
}

async function readPages(db: Kysely<Tables>) {
  const { rows } = await sql<{ free: number; page_size: number }>`
    select f.freelist_count as free, p.page_size from pragma_freelist_count f, pragma_page_size p`.execute(db);
  const { free = 0, page_size: pageSize = 0 } = rows[0] ?? {};
  return { free, pageSize };
}

function createCounter(registry: Registry | undefined): Counter | undefined {
  if (registry === undefined) return undefined;
  return new Counter({
    name: 'quartermaster_database_reclaimed_bytes_total',
    help: 'Bytes of deleted rows that the database file has given back to the file system. SQLite only.',
    registers: [registry],
  });
}
