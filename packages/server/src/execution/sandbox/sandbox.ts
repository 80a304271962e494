import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import type { CgroupState } from '../../processes/isolation/cgroup/cgroups.ts';
import type { MachineCapabilities } from '../../processes/isolation/probe.ts';
import type { Outcome } from '../outcome.ts';

/**
 * Runs handlers in pooled, permission-restricted child processes (tier T1), or in such processes within bubblewrap
 * (tier T2); one pool for each bundle and project, one run at a time a child.
 */
export interface Sandbox {
  run(task: SandboxTask, signal: AbortSignal): Promise<SandboxOutcome>;
  /** What is in force on this machine, for `/v1/health_check` and the log at start. */
  readonly capabilities: SandboxCapabilities;
  close(): Promise<void>;
}

/** The outcomes a child can end in; the output is not yet checked against its schema. */
export type SandboxOutcome =
  | { readonly kind: 'returned'; readonly output: unknown }
  | Extract<
      Outcome,
      { kind: 'input_rejected' | 'timed_out' | 'failed' | 'crashed' | 'out_of_memory' | 'queue_full' | 'cancelled' }
    >;

export interface SandboxTask {
  readonly bundleId: string;
  /** For whom: a process that has run something for one project never runs anything for another. Default: nobody. */
  readonly projectId?: string;
  /** `sandbox` is T2 and fails where `capabilities` does not have it. Default: `process`, T1. */
  readonly isolation?: 'process' | 'sandbox';
  /** The only folder, beside the runtime's own files, that the child may read. */
  readonly bundleFolder: string;
  /** Which version of its files the folder holds: versions share no process. */
  readonly bundleStamp?: string;
  readonly handlerPath: string;
  /** Told to the handler, which several plugins may share. Default: nothing. */
  readonly pluginId?: string;
  readonly input: Record<string, unknown>;
  readonly limits: SandboxLimits;
  /** Answers the handler's `context.fetch`. A rejection reaches the handler as `{code, message}`. */
  readonly onFetch: (request: OutboundRequest, signal: AbortSignal) => Promise<OutboundResponse>;
  /** Written while the run waits and begins. */
  readonly timings?: SandboxTimings | undefined;
  readonly onLog: (message: string, fields: Record<string, unknown> | undefined) => void;
  readonly onProgress: (fraction: number, message: string | undefined) => void;
  /** Takes the secrets of the run out of what its process has printed. */
  readonly hide?: (text: string) => string;
}

/** Milliseconds of `performance.now()`. */
export interface SandboxTimings {
  /** How long the run waited for a process that was being started. */
  startMs: number;
  /** When the plugin may have begun; 0 when it never has. */
  pluginBeganAt: number;
}

export interface SandboxLimits {
  readonly timeoutMs: number;
  /** Resident memory of the child, Buffers included. */
  readonly memoryMb: number;
  /** Processor time of the child, of all its threads together. */
  readonly cpuMs: number;
  /** JSON of the output. */
  readonly maxOutputBytes: number;
  readonly maxRequests: number;
}

export interface SandboxCapabilities extends MachineCapabilities {
  /** Tier T2: namespaces of its own, no network, a filter of system calls. */
  readonly sandbox: { readonly available: true } | { readonly available: false; readonly missing: string };
  /** Each child has a control group of its own, with limits of memory, tasks and processor time. */
  readonly cgroup: CgroupState;
}
