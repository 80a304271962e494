import type { PluginCall, VerifyCredentialsRequest } from '@quartermaster/contract';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import type { FileInputs, InputFiles } from './file-inputs/file-inputs.ts';
import type { Execution, Outcome } from './outcome.ts';
import { outputPartLimits } from './output-parts/output-part.ts';
import type { ObservedRun, RunCaller } from './run-observer.ts';

export type { InputFiles };

/** Runs plugins for the HTTP routes and for MCP. */
export interface Executor {
  /**
   * Runs one plugin. Throws a Problem when the run cannot begin: 404 for an unknown plugin, 422 for credentials or input that
   * do not match their schema. The execution tells how a run that began has ended.
   */
  execute(request: PluginCall, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
  /** Performs all checks of `execute` and throws as it does. The plugin does not run yet. */
  prepare(request: PluginCall, signal: AbortSignal, caller?: RunCaller): PreparedRun;
  /** Reads the files that the input of a prepared run names. `execute` does it by itself. */
  readonly readFiles: FileInputs['read'];
  /** Calls the upstream to find out whether the credentials work. Throws a Problem when the bundle declares no call for that. */
  verifyCredentials(request: VerifyCredentialsRequest, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
}

/** A run whose credentials and input are valid. */
export interface PreparedRun {
  readonly run: ObservedRun;
  /** Whether running the plugin twice has the same effect as running it once. */
  readonly isRepeatable: boolean;
  /** Runs the plugin; call it once. Never rejects: the execution tells how the run ended. */
  start(files: InputFiles): Promise<Execution>;
}

/** The upper limits of a run. A bundle may declare lower ones. */
export interface ExecutionLimits {
  /** Milliseconds for the whole run. */
  readonly timeoutMs: number;
  /** MiB of memory for a handler's process. */
  readonly memoryMb: number;
  /** The maximum processor time of a handler, in milliseconds. */
  readonly cpuMs: number;
  /** The maximum number of bytes of one decompressed upstream response. */
  readonly maxResponseBytes: number;
  /**
   * The maximum number of bytes of the output as JSON. Above `outputPartLimits.inlineBytes`, parts of it are stored as
   * artifacts.
   */
  readonly maxOutputBytes: number;
  /** Outbound calls of one run. */
  readonly maxRequests: number;
  readonly maxRedirects: number;
  /** Retries of an outbound call that may be repeated. */
  readonly maxRetries: number;
  /** The maximum number of runs of one key that wait or run at the same time. All projects together have four times as many. */
  readonly maxRunsOfKey: number;
  /** Milliseconds for which a checked definition of a remote tool is trusted before it is checked again. */
  readonly toolBeliefMs: number;
}

export const defaultLimits: ExecutionLimits = {
  timeoutMs: 30_000,
  memoryMb: 256,
  cpuMs: 10_000,
  maxResponseBytes: 10 * 1024 * 1024,
  maxOutputBytes: outputPartLimits.outputBytes,
  maxRequests: 20,
  maxRedirects: 3,
  maxRetries: 2,
  maxRunsOfKey: 128,
  toolBeliefMs: 300_000,
};

/** The third party or the service refused to act, so nothing happened. */
const refusals: ReadonlySet<Outcome['kind']> = new Set([
  ...(['input_rejected', 'credentials_rejected', 'upstream_rejected', 'upstream_rate_limited'] as const),
  'egress_refused',
]);

/** Whether repeating the run cannot repeat an effect of the plugin. */
export function isRepeatable(outcome: Outcome, plugin: CompiledPlugin | undefined): boolean {
  // The artifact of the answer is the result: a repetition would ask the third party again.
  if ('answer' in outcome && outcome.answer?.artifact != null && outcome.answer.isEarlier !== true) return false;
  if (plugin === undefined || isPluginRepeatable(plugin)) return true;
  if (outcome.kind === 'queue_full') return true;
  // The handler may have had an effect before it failed.
  if (plugin.handlerPath !== null) return false;
  if (outcome.kind === 'upstream_failed') return outcome.upstreamStatus !== null && outcome.upstreamStatus < 500;
  return refusals.has(outcome.kind);
}

/** Whether running the plugin twice has the same effect as running it once. */
export function isPluginRepeatable({ manifest }: CompiledPlugin): boolean {
  return manifest.effects === 'read' || manifest.idempotent;
}
