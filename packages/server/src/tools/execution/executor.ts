import type { OptionsRequest, PluginCall, VerifyCredentialsRequest } from '@quartermaster/contract';
import type { ResolvedCredentials } from '../../access/credential-profiles/resolve-credentials.ts';
import type { CompiledPlugin } from '../catalogue/catalogue.ts';
import type { FileInputs, InputFiles } from './file-inputs/file-inputs.ts';
import type { Execution, Outcome } from './outcome.ts';
import type { Run, RunCaller } from './run.ts';

/** A call of a plugin with its own credentials instead of the name of a profile. */
export type Call = PluginCall & Pick<ResolvedCredentials, 'refreshToken' | 'renew'>;

/** Runs plugins for the HTTP routes and for MCP. */
export interface Executor {
  /**
   * Runs one plugin. Throws a Problem when the run cannot begin: 404 for an unknown plugin, 422 for credentials or input that
   * do not match their schema. The execution tells how a run that began has ended.
   */
  execute(call: Call, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
  /** Performs all checks of `execute` and throws as it does. The plugin does not run yet. */
  prepare(call: Call, signal: AbortSignal, caller?: RunCaller): PreparedRun;
  /**
   * Counts a prepared run against rate limits, unless it was accepted earlier, and reads the files that its input names. `execute`
   * does it by itself.
   * @throws Problem TOO_MANY_REQUESTS or RESOURCE_LIMIT_REACHED for a limit that is reached
   */
  readonly readFiles: FileInputs['read'];
  /** Calls the upstream to find out whether the credentials work. Throws a Problem when the bundle declares no call for that. */
  verifyCredentials(
    request: VerifyCredentialsRequest & Pick<ResolvedCredentials, 'refreshToken' | 'renew'>,
    signal: AbortSignal,
    caller?: RunCaller,
  ): Promise<Execution>;
  /**
   * Asks the third party for the values of an input. The output of a success is {@link FoundOptions}.
   * @throws Problem for an unknown plugin, an input without such values, and invalid credentials
   */
  listOptions(call: OptionsCall, signal: AbortSignal, caller?: RunCaller): Promise<Execution>;
}

export type OptionsCall = Call & Pick<OptionsRequest, 'property' | 'search'>;

/** The values of an input, or the JSON Schemas of its members by name. */
export type FoundOptions =
  | {
      readonly options: ReadonlyArray<{ readonly label: string; readonly value: unknown }>;
      readonly placeholder: string;
    }
  | { readonly schema: Readonly<Record<string, unknown>> };

/** A run whose credentials and input are valid. */
export interface PreparedRun {
  readonly run: Run;
  /** Whether running the plugin twice has the same effect as running it once. */
  readonly isRepeatable: boolean;
  /** Runs the plugin; call it once. Never rejects: the execution tells how the run ended. */
  start(files: InputFiles): Promise<Execution>;
}

/** The third party or the service refused to act, so nothing happened. */
const refusals: ReadonlySet<Outcome['kind']> = new Set([
  ...(['input_rejected', 'credentials_rejected', 'upstream_rejected', 'upstream_rate_limited'] as const),
  'egress_refused',
]);

/** Whether repeating the run cannot repeat an effect of the plugin. */
export function isRepeatable(outcome: Outcome, plugin: CompiledPlugin | null): boolean {
  // The artifact of the answer is the result: a repetition would ask the third party again.
  if ('answer' in outcome && outcome.answer?.artifact != null && outcome.answer.isEarlier !== true) return false;
  if (plugin === null || isPluginRepeatable(plugin)) return true;
  if (outcome.kind === 'queue_full') return true;
  // The handler may have had an effect before it failed.
  if (plugin.handlerPath !== null) return false;
  if (outcome.kind === 'upstream_failed') return outcome.upstreamStatus !== null && outcome.upstreamStatus < 500;
  return refusals.has(outcome.kind);
}

/** Whether running the plugin twice has the same effect as running it once. A second run of some reads is paid again. */
export function isPluginRepeatable({ manifest }: CompiledPlugin): boolean {
  return manifest.idempotent;
}

/** Whether calls of the plugin may be repeated; undefined if this depends on their methods. */
export function mayRepeatCalls(plugin: CompiledPlugin): boolean | undefined {
  const { effects } = plugin.manifest;
  return isPluginRepeatable(plugin) || (effects === 'read' ? false : undefined);
}
