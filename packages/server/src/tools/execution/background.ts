import type { PluginCall, Run } from '@quartermaster/contract';
import type { CompletedClaim } from '../../platform/idempotency/idempotency-repository.ts';
import type { Permissions } from '../../platform/permissions.ts';
import type { RunCaller } from './run.ts';

/** Runs that continue after their request has been answered. */
export interface BackgroundRuns {
  /**
   * Checks the request as `Executor.execute` does, stores the run and starts it. Throws a Problem when the run cannot begin,
   * and TOO_MANY_REQUESTS when too many runs wait.
   * @returns the id of the run
   */
  accept(request: PluginCall, caller: BackgroundCaller): Promise<string>;
  /** Returns the current state of a run. @throws OBJECT_NOT_FOUND when it is not stored, or the reader does not see its plugin */
  get(reader: RunReader, runId: string): Promise<Run>;
}

/** Who reads runs of a project. */
export interface RunReader {
  /** null for the runs that were started without a key. */
  readonly projectId: string | null;
  readonly permissions: Permissions;
}

type Passed = 'projectId' | 'keyId' | 'permissions' | 'sender' | 'onCounted';

export interface BackgroundCaller extends Pick<RunCaller, Passed> {
  /** Returns the claim of the `Idempotency-Key` on this run; it is stored with the run in one transaction. */
  readonly claim?: (runId: string) => Promise<CompletedClaim>;
}

/** Whether the request prefers an asynchronous answer: `Prefer: respond-async` (RFC 7240), among any other preferences. */
export function wantsBackground(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  return String(prefer)
    .split(',')
    .some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}
