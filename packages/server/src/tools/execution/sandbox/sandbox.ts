import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';
import type { CgroupState } from '../../../platform/processes/isolation/cgroup/cgroups.ts';
import type { MachineCapabilities } from '../../../platform/processes/isolation/probe.ts';
import type { Outcome } from '../outcome.ts';

/**
 * Runs handlers in pooled child processes with restricted permissions (tier T1), or in the same processes within bubblewrap (tier
 * T2). Each bundle and project has one pool. A child executes one run at a time.
 */
export interface Sandbox {
  run(task: SandboxTask, signal: AbortSignal): Promise<SandboxOutcome>;
  /** The isolation that this machine provides, for `/v1/health_check` and the log at start. */
  readonly capabilities: SandboxCapabilities;
  close(): Promise<void>;
}

/** The highest memory limit of a run in the service, in MiB. */
export const mostMemoryMb = 256;

/** The outcomes of a run in a child. The output is not yet validated against its schema. */
export type SandboxOutcome =
  | { readonly kind: 'returned'; readonly output: unknown }
  /** The JSON text of an output that is too long to be parsed on the event loop. Nothing of it is checked. */
  | { readonly kind: 'returned_large'; readonly json: Buffer }
  | (Extract<
      Outcome,
      { kind: 'input_rejected' | 'timed_out' | 'failed' | 'crashed' | 'out_of_memory' | 'queue_full' | 'cancelled' }
    > & {
      /** The handler returned, and its output was refused because of its size or form. */
      readonly isUnusable?: true;
    });

export interface SandboxTask {
  readonly bundleId: string;
  /** The project of the run. A process that has executed a run of one project never executes one of another. Default: no project. */
  readonly projectId?: string | null;
  /** The API key of the caller. The keys of a project take turns. Default: no key. */
  readonly keyId?: string | null | undefined;
  /** `sandbox` is T2 and fails where `capabilities` lacks it. `process`, the default, is T1. */
  readonly isolation?: 'process' | 'sandbox';
  /** The only folder that the child may read, apart from the files of the runtime. */
  readonly bundleFolder: string;
  /** The version of the files in the folder. Versions share no process. */
  readonly bundleStamp?: string;
  readonly handlerPath: string;
  /**
   * The handler is the file of a piece: it is loaded by the runtime of pieces, and the input is its `PieceTask` without the file. A
   * process that has served one digest never serves another.
   */
  readonly piece?: { readonly credentialsDigest: string };
  /** Passed to the handler, because several plugins may share one. Default: empty. */
  readonly pluginId?: string;
  readonly input: Record<string, unknown>;
  readonly limits: SandboxLimits;
  /** Performs a `context.fetch` of the handler. A rejection reaches the handler as `{code, message}`. */
  readonly onFetch: (request: OutboundRequest, signal: AbortSignal) => Promise<OutboundResponse>;
  /** Filled in while the run waits and when it begins. */
  readonly timings?: SandboxTimings | undefined;
  readonly onLog: (message: string, fields: Record<string, unknown> | undefined) => void;
  readonly onProgress: (fraction: number, message: string | undefined) => void;
  /** Redacts the secrets of the run from the output of its process. */
  readonly redact?: (text: string) => string;
}

/** Milliseconds of `performance.now()`. */
export interface SandboxTimings {
  /** The time that the run waited for a process to start. */
  startMs: number;
  /** When the plugin may have begun; 0 when it has not. */
  pluginBeganAt: number;
}

export interface SandboxLimits {
  readonly timeoutMs: number;
  /** The resident memory of the child, Buffers included. */
  readonly memoryMb: number;
  /** The processor time of the child, all threads together. */
  readonly cpuMs: number;
  /** The maximum size of the output as JSON, in bytes. */
  readonly maxOutputBytes: number;
  readonly maxRequests: number;
}

export interface SandboxCapabilities extends MachineCapabilities {
  /** Tier T2: own namespaces, no network, filtered system calls. */
  readonly sandbox: { readonly available: true } | { readonly available: false; readonly missing: string };
  /** Each child has its own control group with limits of memory, tasks and processor time. */
  readonly cgroup: CgroupState;
}
