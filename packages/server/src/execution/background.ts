import type { ExecuteRequest, Run } from '@quartermaster/contract';
import type { CompletedClaim } from '../idempotency/idempotency-repository.ts';

/** Runs that go on when their request has been answered. */
export interface BackgroundRuns {
  /**
   * Checks the request as `Executor.execute` does, stores the run, and lets it run. Throws a Problem when it cannot
   * begin, TOO_MANY_REQUESTS when too many are waiting.
   * @returns its id
   */
  accept(request: ExecuteRequest, caller: BackgroundCaller): Promise<string>;
  /** An accepted run as it is now. @throws OBJECT_NOT_FOUND when it is no longer kept */
  get(projectId: string, runId: string): Promise<Run>;
}

export interface BackgroundCaller {
  /** `-` without a project. */
  readonly projectId: string;
  /** null without a key. */
  readonly keyId: string | null;
  /** Gives what is to be stored with the run, in one transaction, that its `Idempotency-Key` leads to it from then on. */
  readonly claim?: (runId: string) => Promise<CompletedClaim>;
}

/** `Prefer: respond-async` (RFC 7240), whatever else is preferred. */
export function wantsBackground(prefer: string | string[] | undefined): boolean {
  if (prefer === undefined) return false;
  return String(prefer)
    .split(',')
    .some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}
