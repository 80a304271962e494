import type { ErrorDetail, Isolation, RunOrigin } from '@quartermaster/contract';
import { keyless, type Owner } from '../../platform/admission/owner.ts';
import type { RateFields } from '../../platform/admission/rate-answers.ts';
import type { Sender } from '../../platform/audit/audit.ts';
import type { Permissions } from '../../platform/permissions.ts';
import type { CompiledBundle, CompiledPlugin } from '../catalogue/catalogue.ts';
import type { Execution, Outcome } from './outcome.ts';
import type { SplitOutput } from './output-parts/split-output.ts';
import type { RunPolicy } from './run-policy.ts';
import type { RunTimings } from './run-timings.ts';
import type { LargeAnswers } from './unused-answers/large-answers.ts';
import type { Unusable } from './unused-answers/unused-answer.ts';

/** One run, from its first check to its end. */
export interface Run {
  readonly runId: string;
  readonly bundle: CompiledBundle;
  /** null when the run verifies credentials or lists the values of an input. */
  readonly plugin: CompiledPlugin | null;
  readonly isolation: Isolation;
  readonly caller: RunCaller;
  /** The input as the caller sent it. An observer that stores it must redact it. */
  readonly input: Record<string, unknown>;
  readonly policy: RunPolicy;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly trace: RunTimings;
  /** Receives answers that are larger than the bundle allows. */
  readonly largeAnswers: LargeAnswers;
}

/** The caller of a run. */
export interface RunCaller extends Owner {
  readonly origin: RunOrigin;
  /** What the caller may do. Absent for a run that was accepted earlier. */
  readonly permissions?: Permissions | undefined;
  /** The request that caused the run. Absent for a run that another process accepted. */
  readonly sender?: Sender | undefined;
  /** Cancels the run. Set when clients other than the caller may cancel it. */
  readonly cancel?: () => void;
  /** Set when the run was accepted earlier and this execution continues it. */
  readonly resumes?: { readonly runId: string; readonly createdAt: number } | undefined;
  /** The caller stores the record of the run, so the observer does not. */
  readonly keepsOwnRecord?: boolean;
  /** Receives what is left of the rate limits of the plugin. */
  readonly onCounted?: ((fields: RateFields) => void) | undefined;
  /** Receives the progress while the plugin runs. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/** The caller of programs that run plugins without projects and keys. */
export const unknownCaller: RunCaller = { ...keyless, origin: 'execute' };

export interface RunProgress {
  /** 0..1 */
  readonly fraction: number;
  /** The handler's message, redacted. */
  readonly message: string | undefined;
  /** The numbers that the MCP server of an imported tool reports. Default: `fraction` of 1. */
  readonly steps?: { readonly progress: number; readonly total?: number };
}

/** The outcome of a run before its output is validated and redacted. */
export type RawOutcome =
  | ({
      readonly kind: 'returned';
      readonly output: unknown;
      /** What the mapping of the answer could not use, before the output is compared with its schema. */
      readonly violations?: readonly ErrorDetail[];
      /** The contents of a tool of an MCP server beside its structured output. */
      readonly contents?: readonly unknown[];
    } & Partial<Pick<SplitOutput, 'parts'>>)
  | (Exclude<Outcome, { kind: 'succeeded' }> & Unusable);

/** Observes runs. Every run calls it, so an implementation must not wait for I/O. */
export interface RunObserver {
  begun(run: Run): void;
  progressed(run: Run, progress: RunProgress): void;
  ended(run: Run, execution: Execution): void;
}

/** An observer that does nothing, for programs that run plugins and store no records. */
export const noObserver: RunObserver = { begun: () => {}, progressed: () => {}, ended: () => {} };
