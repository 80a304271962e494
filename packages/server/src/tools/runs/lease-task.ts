import type { PeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { AsyncRun, StopReason } from './async-run.ts';
import type { RunQueue } from './run-queue.ts';
import type { Heartbeat, HeldRun, RunRepository } from './run-repository.ts';

export interface LeaseTaskDeps {
  readonly repository: Pick<RunRepository, 'requeue' | 'renew' | 'listHeld'>;
  /** The unique name of this process. */
  readonly owner: string;
  readonly queue: Pick<RunQueue, 'all'>;
  readonly heartbeat: () => Heartbeat;
  readonly stopRun: (run: AsyncRun, reason: StopReason) => void;
  readonly recover: () => Promise<void>;
  readonly options: { readonly lookMs: number; readonly cancelMs: number; readonly leaseMs: number };
}

/**
 * Writes the heartbeat of a process, stops its runs that other processes have cancelled or taken, and recovers orphaned runs. Between
 * two heartbeats, a process with runs only reads which ones to stop. A process whose own heartbeats were interrupted waits for a lease
 * before it recovers runs, because the database may have been away for the others, too.
 */
export function createLeaseTask({ repository, owner, queue, stopRun, options, ...deps }: LeaseTaskDeps): PeriodicTask {
  /** @param read returns the runs of this process */
  async function stopOthers(read: () => Promise<HeldRun[]>): Promise<HeldRun[]> {
    const known = [...queue.all.values()].filter((run) => run.isHeld);
    const held = await read();
    const ids = new Set(held.map((run) => run.id));
    for (const run of known) if (!ids.has(run.stored.id)) stopRun(run, 'lost');
    for (const { id, isCancelAsked } of held) {
      const run = isCancelAsked ? queue.all.get(id) : undefined;
      if (run !== undefined) stopRun(run, 'cancelled');
    }
    return held;
  }

  let renewedAt: number | undefined;
  let recoversFrom = Number.NEGATIVE_INFINITY;

  async function renewAndRecover(): Promise<void> {
    const held = await stopOthers(() => repository.renew(deps.heartbeat()));
    const { leaseMs } = options;
    const now = performance.now();
    if (renewedAt !== undefined && now - renewedAt > leaseMs / 2) recoversFrom = now + leaseMs;
    renewedAt = now;
    // These runs were stored although their clients got an error: the commit succeeded, but its confirmation was lost.
    const orphans = held.filter(({ id }) => !queue.all.has(id));
    if (orphans.length > 0) await repository.requeue(orphans, owner);
    if (now >= recoversFrom) await deps.recover();
  }

  const looksPerHeartbeat = options.lookMs / options.cancelMs;
  let looks = 0;
  const run = async () => {
    if (looks++ % looksPerHeartbeat === 0) await renewAndRecover();
    else if (queue.all.size > 0) await stopOthers(() => repository.listHeld(owner));
  };
  return { name: 'leases of asynchronous runs', pause: options.cancelMs, run };
}
