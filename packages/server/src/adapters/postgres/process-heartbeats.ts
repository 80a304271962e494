import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Heartbeat } from '../../runs/run-repository.ts';
import { isOver, type LeaseTimes } from '../database/lease.ts';
import type { Tables } from '../database/tables.ts';

/** Milliseconds after which the row of a process that has ended is deleted; far longer than a lease. */
const keptMs = 86_400_000;

/** One row for each process: it keeps all runs that the process holds, however many they are. */
export async function writeHeartbeat(db: Kysely<Tables>, { owner, at }: Heartbeat): Promise<void> {
  await db
    .insertInto('process')
    .values({ id: owner, heartbeat_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: at }))
    .execute();
}

/**
 * A condition on `run` left joined with `process`: the heartbeat of its owner is older than a lease is long, or lies
 * further in the future than that and is void. An owner without a row is a process of an earlier version, which
 * prolongs the lease of each run.
 */
export function isOrphaned(times: LeaseTimes): RawBuilder<boolean> {
  const { now, leaseUntil } = times;
  const leaseMs = leaseUntil - now;
  return sql<boolean>`case when process.id is null then ${isOver('run.lease_until', times)}
    else process.heartbeat_at <= ${now - leaseMs} or process.heartbeat_at > ${now + leaseMs} end`;
}

/** Deletes the rows of processes that ended long ago. What they may have left is orphaned without the row as well. */
export async function sweepProcesses(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .deleteFrom('process')
    .where((eb) => eb.or([eb('heartbeat_at', '<', now - keptMs), eb('heartbeat_at', '>', now + keptMs)]))
    .execute();
}
