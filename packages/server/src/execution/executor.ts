import type { ExecuteRequest, VerifyCredentialsRequest } from '@quartermaster/contract';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import type { Execution, Outcome } from './outcome.ts';
import type { ObservedRun, RunCaller } from './run-observer.ts';

/** Runs plugins for whoever asks: the HTTP routes, MCP. */
export interface Executor {
  /**
   * Runs one plugin. Throws a Problem when the run cannot begin (no such plugin: 404; credentials or input that break
   * their schema: 422); how a run that began has ended is in the execution.
   */
  execute(request: ExecuteRequest, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
  /** The first half of `execute`: checks everything that can be checked, and throws as it does. Nothing runs yet. */
  prepare(request: ExecuteRequest, signal: AbortSignal, caller?: RunCaller): PreparedRun;
  /** Asks the upstream whether credentials work. Throws a Problem when the bundle has no way to ask. */
  verifyCredentials(request: VerifyCredentialsRequest, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
}

/** A run whose credentials and input are right. */
export interface PreparedRun {
  readonly run: ObservedRun;
  /** Running the plugin twice does no more than running it once. */
  readonly isRepeatable: boolean;
  /** Runs it, once. Never rejects: how it ended is in the execution. */
  start(): Promise<Execution>;
}

/** The most a run may take; a bundle may ask for less. */
export interface ExecutionLimits {
  /** Milliseconds, the whole run. */
  readonly timeoutMs: number;
  /** MiB a handler's process may take. */
  readonly memoryMb: number;
  /** Milliseconds of processor time that a handler may take. */
  readonly cpuMs: number;
  /** Bytes of one upstream answer, decompressed. */
  readonly maxResponseBytes: number;
  /** Bytes of the output as JSON. */
  readonly maxOutputBytes: number;
  /** Outbound calls of one run. */
  readonly maxRequests: number;
  readonly maxRedirects: number;
  /** Times that an outbound call which may be sent twice is sent again. */
  readonly maxRetries: number;
  /** Runs of one key at the same time, waiting or running; one more is answered 429. */
  readonly maxRunsOfKey: number;
  /** Declarative runs at the same time; one more is answered 429. */
  readonly maxConcurrentRuns: number;
  /** Milliseconds for which a remote tool that was found to be as it was accepted is believed to be so still. */
  readonly toolBeliefMs: number;
}

export const defaultLimits: ExecutionLimits = {
  timeoutMs: 30_000,
  memoryMb: 256,
  cpuMs: 10_000,
  maxResponseBytes: 10 * 1024 * 1024,
  maxOutputBytes: 1024 * 1024,
  maxRequests: 20,
  maxRedirects: 3,
  maxRetries: 2,
  maxRunsOfKey: 128,
  maxConcurrentRuns: 256,
  toolBeliefMs: 300_000,
};

/** Whether the same run may be made again without doing twice what should be done once. */
export function isRepeatable(outcome: Outcome, plugin: CompiledPlugin | undefined): boolean {
  if (plugin === undefined || isPluginRepeatable(plugin)) return true;
  if (outcome.kind === 'queue_full') return true;
  // A handler may have acted before it failed.
  if (plugin.handlerPath !== null) return false;
  if (outcome.kind === 'upstream_failed') return outcome.upstreamStatus !== null && outcome.upstreamStatus < 500;
  return ['input_rejected', 'credentials_rejected', 'egress_refused'].includes(outcome.kind);
}

/** Running it twice does no more than running it once. */
export function isPluginRepeatable({ manifest }: CompiledPlugin): boolean {
  return manifest.effects === 'read' || manifest.idempotent;
}
