import type { ExecuteResult, PluginCall } from '@quartermaster/contract';
import { type ResolveCredentials, resolveRequest } from '../../access/credential-profiles/resolve-credentials.ts';
import { resultOf } from './answers.ts';
import type { Executor } from './executor.ts';
import type { Execution } from './outcome.ts';
import { outcomeProblem } from './problems.ts';
import type { RunCaller } from './run.ts';
import type { RunOnce } from './run-once.ts';

export interface AnswerCallDeps {
  readonly executor: Pick<Executor, 'execute'>;
  readonly once: Pick<RunOnce, 'runOnce'>;
  readonly resolveCredentials: ResolveCredentials;
}

export interface ClientCall {
  readonly request: PluginCall;
  /** The `Idempotency-Key`. With it, the run continues after the client has disconnected, so that a retry finds its answer. */
  readonly key: string | undefined;
  readonly caller: Omit<RunCaller, 'cancel'>;
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
}

/**
 * Runs a plugin for a client, once for an `Idempotency-Key`. Throws the Problem of a run that failed.
 * @returns null when the client has disconnected
 */
export async function answerCall(
  { executor, once, resolveCredentials }: AnswerCallDeps,
  { request, key, caller, gone }: ClientCall,
): Promise<ExecuteResult | null> {
  const running = new AbortController();
  const cancel = () => running.abort();
  const run = async () => {
    const call = await resolveRequest(resolveCredentials, caller, request);
    return await executor.execute(call, running.signal, { ...caller, cancel });
  };
  if (key !== undefined) return await once.runOnce({ ...caller, key }, request, run);
  gone.addEventListener('abort', cancel);
  if (gone.aborted) cancel();
  const execution = await run().finally(() => gone.removeEventListener('abort', cancel));
  return hasAnswer(execution, gone) ? resultOf(execution) : null;
}

/** @returns false when the client has disconnected @throws Problem for every outcome except success */
export function hasAnswer({ outcome, runId }: Execution, gone: AbortSignal): boolean {
  if (outcome.kind === 'succeeded') return true;
  if (outcome.kind === 'cancelled' && gone.aborted) return false;
  throw outcomeProblem(outcome, runId);
}
