import type { ExecuteRequest } from '@quartermaster/contract';
import { type ResolveCredentials, resolveRequest } from '../access/credential-profiles/resolve-credentials.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { Problem } from '../kernel/problem.ts';
import type { BackgroundQueue } from './background-queue.ts';
import type { BackgroundRun, BackgroundWish } from './background-run.ts';
import { cancelledEnd, type Interruption, interruptedEnd } from './interruptions.ts';
import { type RequestSealer, readKeptRequest } from './kept-requests.ts';
import type { LeftRun, RunEnd, RunLease, RunRepository } from './run-repository.ts';

export interface TakeOverDeps {
  readonly repository: Pick<RunRepository, 'takeOver' | 'end' | 'leave'>;
  readonly resolveCredentials: ResolveCredentials;
  readonly sealer: RequestSealer | null;
  readonly queue: BackgroundQueue;
  readonly prepare: (wish: Omit<BackgroundWish, 'lease'>) => BackgroundRun;
  readonly lease: () => RunLease;
  readonly hasBundle: (bundleId: string) => boolean;
  /** Milliseconds from its acceptance after which a run without its bundle is ended. */
  readonly maxOrphanedMs: number;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const batch = 100;
/** A run that ends its process each time is not tried for ever. */
const maxAttempts = 3;

/** Too much is under way, or the database is away. */
const mayPass = ({ headers }: Problem) => headers['Retry-After'] !== undefined;

/** Takes the runs that other processes have left: runs them again where that is right, and ends the others. */
export function createTakeOver(deps: TakeOverDeps): () => Promise<void> {
  const { repository, queue, lease, owner, clock, logger, sealer } = deps;

  const acceptedBefore = () => clock.now() - deps.maxOrphanedMs;

  /** @returns null when a process that has the bundle may still take it */
  function judge({ run, request, attempts }: LeftRun): Interruption | ExecuteRequest | null {
    // Not `begunAt`: a process that took it over and was killed has cleared that.
    if (attempts > 0 && !request.isRepeatable) return 'may_have_acted';
    if (!deps.hasBundle(run.bundleId)) return run.createdAt <= acceptedBefore() ? 'bundle_missing' : null;
    if (attempts >= maxAttempts) return 'tried_too_often';
    const kept = readKeptRequest(request, run, sealer);
    return kept ?? (request.text === null ? 'credentials_not_kept' : 'seal_not_opened');
  }

  async function takeUp({ run: stored }: LeftRun, kept: ExecuteRequest): Promise<void> {
    const { projectId, id: runId, createdAt } = stored;
    const request = await resolveRequest(deps.resolveCredentials, projectId, kept);
    const run = deps.prepare({ request, projectId, keyId: null, resumes: { runId, createdAt } });
    run.isKept = true;
    queue.enter(run);
    queue.line(run);
    logger.info({ run_id: runId }, 'a run that its process left is taken up');
  }

  async function decide(left: LeftRun): Promise<void> {
    const end = (how: RunEnd) => repository.end(left.run, { owner, end: how, result: null });
    const hasBegun = left.attempts > 0;
    if (left.isCancelAsked) return void (await end(cancelledEnd));
    const judged = judge(left);
    // The bundle was removed after the run was taken.
    if (judged === null) return await repository.leave([left.run], owner);
    if (typeof judged === 'string') return void (await end(interruptedEnd(judged, hasBegun)));
    try {
      await takeUp(left, judged);
    } catch (error) {
      // Whatever else went wrong may go well later.
      if (!(error instanceof Problem) || mayPass(error)) return await repository.leave([left.run], owner);
      await end(interruptedEnd('cannot_begin', hasBegun, error.message));
    }
  }

  return async () => {
    const limit = Math.min(batch, queue.room());
    if (limit === 0) return;
    const request = { now: clock.now(), limit, hasBundle: deps.hasBundle, acceptedBefore: acceptedBefore() };
    for (const left of await repository.takeOver(lease(), request)) await decide(left);
  };
}
