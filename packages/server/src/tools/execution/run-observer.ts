import type { Isolation, RunOrigin, Scope } from '@quartermaster/contract';
import type { Redactor } from '../egress/redact/redactor.ts';
import type { Execution } from './outcome.ts';
import type { RunTimings } from './run-timings.ts';

/** Observes runs. Every run calls it, so an implementation must not wait for I/O. */
export interface RunObserver {
  begun(run: ObservedRun): void;
  progressed(run: ObservedRun, progress: RunProgress): void;
  ended(run: ObservedRun, execution: Execution): void;
}

/** A run in progress, as observers see it. */
export interface ObservedRun {
  readonly runId: string;
  readonly bundle: { readonly id: string };
  /** null when the run verifies credentials. */
  readonly pluginId: string | null;
  readonly isolation: Isolation;
  readonly caller: RunCaller;
  /** The input as the caller sent it. An observer that stores it must redact it. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly policy: { readonly egress: { readonly redactor: Redactor } };
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly trace: RunTimings;
}

/** The caller of a run. */
export interface RunCaller {
  /** `-` when the caller has no project. */
  readonly projectId: string;
  readonly origin: RunOrigin;
  /** Absent without a key. */
  readonly keyId?: string | undefined;
  /** The scopes of the key. Absent without a key. */
  readonly scopes?: ReadonlySet<Scope> | undefined;
  /** Cancels the run. Set when clients other than the caller may cancel it. */
  readonly cancel?: () => void;
  /** Set when the run was accepted earlier and this execution continues it. */
  readonly resumes?: { readonly runId: string; readonly createdAt: number } | undefined;
  /** The caller stores the record of the run, so the observer does not. */
  readonly keepsOwnRecord?: boolean;
  /** Receives the progress while the plugin runs. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface RunProgress {
  /** 0..1 */
  readonly fraction: number;
  /** The handler's message, redacted. */
  readonly message: string | undefined;
  /** The numbers that the MCP server of an imported tool reports. Default: `fraction` of 1. */
  readonly steps?: { readonly progress: number; readonly total?: number };
}

/** An observer that does nothing, for programs that run plugins and store no records. */
export const noObserver: RunObserver = { begun: () => {}, progressed: () => {}, ended: () => {} };
