import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Heartbeat } from '../../tools/runs/run-repository.ts';
import { isOver, type LeaseTimes } from '../database/lease.ts';
import type { Tables } from '../database/tables.ts';

/** Milliseconds after which the row of an ended process is deleted. The period is much longer than a lease. */
const keptMs = 86_400_000;

/** Writes one row per process. The row renews all runs that the process holds, whatever their number. */
export async function writeHeartbeat(db: Kysely<Tables>, { owner, at }: Heartbeat): Promise<void> {
  await db
    .insertInto('process')
    .values({ id: owner, heartbeat_at: at })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: at }))
    .execute();
}

/**
 * A condition on `run` left joined with `process`. The heartbeat of the owner is older than the length of a lease. A
 * run is also orphaned if its heartbeat is more than one lease in the future. An owner without a row ended long
 * ago, and the lease of its run decides.
 */
export function isOrphaned(times: LeaseTimes): RawBuilder<boolean> {
  const { now, leaseUntil } = times;
  const leaseMs = leaseUntil - now;
  return sql<boolean>`case when process.id is null then ${isOver('run.lease_until', times)}
    else process.heartbeat_at <= ${now - leaseMs} or process.heartbeat_at > ${now + leaseMs} end`;
}

/** Deletes the rows of processes that ended long ago. Runs that they left are orphaned without the row as well. */
export async function sweepProcesses(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .deleteFrom('process')
    .where((eb) => eb.or([eb('heartbeat_at', '<', now - keptMs), eb('heartbeat_at', '>', now + keptMs)]))
    .execute();
}
