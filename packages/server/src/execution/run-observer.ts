import type { Isolation, RunOrigin } from '@quartermaster/contract';
import type { Redactor } from '../egress/redact/redactor.ts';
import type { Execution } from './outcome.ts';
import type { RunTimings } from './run-timings.ts';

/** Observes runs. Called during every run: an implementation does not wait for anything. */
export interface RunObserver {
  begun(run: ObservedRun): void;
  progressed(run: ObservedRun, progress: RunProgress): void;
  ended(run: ObservedRun, execution: Execution): void;
}

/** A run under way, as its observer sees it. */
export interface ObservedRun {
  readonly runId: string;
  readonly bundle: { readonly id: string };
  /** null: a check of credentials. */
  readonly pluginId: string | null;
  readonly isolation: Isolation;
  readonly caller: RunCaller;
  /** What the caller sent: whoever keeps it must scrub it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly policy: { readonly egress: { readonly redactor: Redactor } };
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly trace: RunTimings;
}

/** On whose behalf a plugin runs. */
export interface RunCaller {
  /** `-` without a project. */
  readonly projectId: string;
  readonly origin: RunOrigin;
  /** Absent without a key. */
  readonly keyId?: string | undefined;
  /** The run can be cancelled by others than its caller: how. */
  readonly cancel?: () => void;
  /** The run was accepted earlier: it is the same one. */
  readonly resumes?: { readonly runId: string; readonly createdAt: number } | undefined;
  /** The caller stores the record of the run itself: the observer need not. */
  readonly keepsOwnRecord?: boolean;
  /** For a caller who watches; called while the plugin runs. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface RunProgress {
  /** 0..1 */
  readonly fraction: number;
  /** A text of the handler, scrubbed. */
  readonly message: string | undefined;
}

/** For programs that run plugins and keep nothing: tests of a bundle, examples. */
export const noObserver: RunObserver = { begun: () => {}, progressed: () => {}, ended: () => {} };
