import type { ExecuteRequest } from '@quartermaster/contract';
import type { Executor, PreparedRun } from '../execution/executor.ts';
import { underWay } from './ended-run.ts';
import type { RunLease, StoredRun } from './run-repository.ts';

/** An accepted run that this process has, from its acceptance until its end is stored. */
export interface BackgroundRun {
  readonly stored: StoredRun;
  /** null without a key. */
  readonly keyId: string | null;
  /** Characters of what it holds in memory. */
  readonly size: number;
  readonly done: PromiseWithResolvers<void>;
  /** Ends it. */
  readonly controller: AbortController;
  /** Anew, for another try. Throws a Problem when it can no longer begin. */
  readonly prepare: () => PreparedRun;
  prepared: PreparedRun;
  /** Its request is stored: another process can take it up. */
  isKept: boolean;
  /** The plugin may have been at work. */
  hasBegun: boolean;
  /** Why it was told to end: somebody wants that, the service stops, or another process has taken it over. */
  told: 'cancelled' | 'stopping' | 'lost' | null;
}

export interface BackgroundWish {
  /** With its credentials. */
  readonly request: ExecuteRequest;
  readonly projectId: string;
  readonly keyId: string | null;
  readonly lease: RunLease;
  /** The run was accepted earlier. */
  readonly resumes?: { readonly runId: string; readonly createdAt: number };
}

/** Checks what can be checked. Throws a Problem when it cannot begin. */
export function prepareBackgroundRun(
  executor: Pick<Executor, 'prepare'>,
  { request, projectId, keyId, lease, resumes }: BackgroundWish,
  cancel: (run: BackgroundRun) => void,
): BackgroundRun {
  const controller = new AbortController();
  const caller = { projectId, origin: 'execute', keepsOwnRecord: true, cancel: () => cancel(run) } as const;
  const prepare = (same: BackgroundWish['resumes']) =>
    executor.prepare(request, controller.signal, { ...caller, resumes: same });
  const prepared = prepare(resumes);
  const stored = underWay(prepared.run, lease);
  const run: BackgroundRun = {
    ...{ stored, keyId, controller, prepared, isKept: false, hasBegun: false, told: null },
    size: JSON.stringify(request).length,
    done: Promise.withResolvers<void>(),
    prepare: () => prepare({ runId: stored.id, createdAt: stored.createdAt }),
  };
  return run;
}

/** What a stop interrupts, the next process may take up. */
export function isResumable({ isKept, hasBegun, prepared }: BackgroundRun): boolean {
  return isKept && (!hasBegun || prepared.isRepeatable);
}
