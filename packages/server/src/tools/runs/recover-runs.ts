import type { PluginCall } from '@quartermaster/contract';
import { type ResolveCredentials, resolveRequest } from '../../access/credential-profiles/resolve-credentials.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import { isTemporary, Problem } from '../../platform/problem.ts';
import type { Executor } from '../execution/executor.ts';
import {
  type AsyncRun,
  type AsyncRunOptions,
  addFiles,
  type RequestEncrypter,
  readStoredRequest,
} from './async-run.ts';
import { cancelledEnd, type Interruption, interruptedEnd } from './run-outcome.ts';
import type { RunQueue } from './run-queue.ts';
import type { OrphanedRun, RunEnd, RunLease, RunRepository } from './run-repository.ts';

export interface RecoveryDeps extends Pick<CommonDeps, 'clock' | 'logger'> {
  readonly repository: Pick<RunRepository, 'claimOrphaned' | 'end' | 'requeue'>;
  readonly resolveCredentials: ResolveCredentials;
  readonly executor: Pick<Executor, 'readFiles'>;
  readonly encrypter: RequestEncrypter | null;
  readonly queue: RunQueue;
  readonly prepare: (options: Omit<AsyncRunOptions, 'lease'>) => AsyncRun;
  readonly lease: () => RunLease;
  readonly hasBundle: (bundleId: string) => boolean;
  /** Milliseconds after its acceptance at which a run without its bundle is ended. */
  readonly maxOrphanedMs: number;
  readonly owner: string;
}

const batch = 100;
/** The maximum number of processes that exit while they execute a run. After these the run is ended. */
const maxAttempts = 3;

/**
 * Claims orphaned runs, executes those whose repetition is harmless, and ends the others. An idle process also takes runs that wait
 * at a busy one.
 */
export function createRecovery(deps: RecoveryDeps): () => Promise<void> {
  const { repository, queue, lease, owner, clock, logger, encrypter } = deps;

  const acceptedBefore = () => clock.now() - deps.maxOrphanedMs;

  /** @returns null when a process that has the bundle may still recover it */
  function judge({ run, request, attempts }: OrphanedRun): Interruption | PluginCall | null {
    // `begunAt` cannot be used here, because a claim clears it.
    if (attempts > 0 && !request.isRepeatable) return 'may_have_acted';
    if (!deps.hasBundle(run.bundleId)) return run.createdAt <= acceptedBefore() ? 'bundle_missing' : null;
    if (attempts >= maxAttempts) return 'tried_too_often';
    const stored = readStoredRequest(request, run, encrypter);
    return stored ?? (request.text === null ? 'credentials_not_kept' : 'seal_not_opened');
  }

  async function enqueue({ run: stored, keyId, isOrphaned }: OrphanedRun, request: PluginCall): Promise<void> {
    const { projectId, id: runId, createdAt } = stored;
    const resolved = await resolveRequest(deps.resolveCredentials, { projectId }, request);
    const resumes = { runId, createdAt };
    const run = deps.prepare({ request: resolved, projectId, keyId, resumes });
    // Without a place, reading the files would be in vain.
    if (!queue.mayReserve(run)) return await repository.requeue([stored], owner);
    await deps.executor.readFiles(resolved, { projectId, keyId, resumes }, async (files) => {
      addFiles(run, files);
      run.isStored = true;
      queue.reserve(run);
      queue.enqueue(run);
    });
    logger.info({ run_id: runId }, isOrphaned ? 'orphaned run recovered' : 'waiting run taken');
  }

  async function recover(orphan: OrphanedRun): Promise<void> {
    const end = (how: RunEnd) => repository.end(orphan.run, { owner, end: how, result: null });
    const requeue = () => repository.requeue([orphan.run], owner);
    const hasBegun = orphan.attempts > 0;
    if (orphan.isCancelAsked) return void (await end(cancelledEnd));
    const judged = judge(orphan);
    // The bundle was removed after the claim.
    if (judged === null) return await requeue();
    if (typeof judged === 'string') return void (await end(interruptedEnd(judged, hasBegun)));
    try {
      await enqueue(orphan, judged);
    } catch (error) {
      // Other errors may be temporary.
      if (isTemporary(error) || !(error instanceof Problem)) return await requeue();
      await end(interruptedEnd('cannot_begin', hasBegun, error.message));
    }
  }

  return async () => {
    const limit = Math.min(batch, queue.remaining());
    if (limit === 0) return;
    const orphans = await repository.claimOrphaned(lease(), {
      now: clock.now(),
      limit,
      startable: Math.min(limit, queue.startable()),
      hasBundle: deps.hasBundle,
      except: queue.ownersWithoutPlace(),
      acceptedBefore: acceptedBefore(),
    });
    for (const orphan of orphans) await recover(orphan);
  };
}
