import { createHash } from 'node:crypto';
import type { ErrorCode, ExecuteRequest, ExecuteResult } from '@quartermaster/contract';
import type { Idempotency, RunningRequest } from '../idempotency/idempotency.ts';
import type { CompletedClaim } from '../idempotency/idempotency-repository.ts';
import { Problem } from '../kernel/problem.ts';
import { resultOf } from './answers.ts';
import type { Execution } from './executor.ts';
import { outcomeProblem } from './problems.ts';

/** Runs of an `Idempotency-Key`: the first runs, the others get its answer. */
export interface RunOnce {
  /**
   * Gives the result of the run or of the one before it; throws its Problem likewise.
   * @param run rejects with a Problem when the run cannot begin; the key is free again then
   */
  runOnce(place: RunPlace, request: ExecuteRequest, run: () => Promise<Execution>): Promise<ExecuteResult>;
  /**
   * Gives the id of an asynchronous run or of the one before it.
   * @param accept stores the claim that it is handed together with the run
   */
  acceptOnce(place: RunPlace, request: ExecuteRequest, accept: Accept): Promise<string>;
}

/** @returns the id of the run */
export type Accept = (claim: (runId: string) => Promise<CompletedClaim>) => Promise<string>;

export interface RunPlace {
  /** `-` without a project. */
  readonly projectId: string;
  readonly key: string;
}

export interface RunOnceDeps {
  readonly idempotency: Idempotency;
  /** Keeps a completed claim with its answer; `complete` of the idempotency repository. */
  readonly keep: (claim: CompletedClaim) => Promise<boolean>;
  /** A keyed hash under a secret that is not in the database; null when the service has none. */
  readonly mac?: ((text: string) => string) | null;
}

/** A larger answer is not stored for a repetition, so that answers cannot fill the disk. */
const maxStoredBytes = 64 * 1024;

type Answer =
  | { readonly tooLarge: { readonly run_id: string; readonly bytes: number } }
  | { readonly result: ExecuteResult }
  | { readonly problem: { readonly code: ErrorCode; readonly message: string; readonly details: Problem['details'] } };

export function createRunOnce({ idempotency, keep, mac = null }: RunOnceDeps): RunOnce {
  async function runAndKeep(
    claim: RunningRequest,
    print: string,
    run: () => Promise<Execution>,
  ): Promise<ExecuteResult> {
    try {
      const execution = await run();
      const { outcome, runId, isRepeatable } = execution;
      const problem = outcome.kind === 'succeeded' ? null : outcomeProblem(outcome, runId);
      if (problem !== null && isRepeatable) throw problem;
      const answer = problem === null ? { result: resultOf(execution) } : { problem: toStored(problem) };
      const bytes = Buffer.byteLength(JSON.stringify(answer));
      const stored: Answer = bytes > maxStoredBytes ? { tooLarge: { run_id: runId, bytes } } : answer;
      await keep(await claim.complete(print, stored));
      return unpack(answer);
    } finally {
      // Does nothing once the answer is kept.
      await claim.release();
    }
  }

  return {
    async runOnce({ projectId, key }, request, run) {
      const print = fingerprintOf(request, `${projectId} ${key}`, mac);
      const begun = await idempotency.begin({ projectId, operation: 'execute', key });
      // Only what `unpack` reads was ever stored.
      if (begun.kind === 'answered') return unpack(begun.replay(print) as Answer);
      return await runAndKeep(begun, print, run);
    },
    async acceptOnce({ projectId, key }, request, accept) {
      // A request that waits for its answer and one that does not are answered differently: they are not the same.
      const print = `${fingerprintOf(request, `${projectId} ${key}`, mac)}.async`;
      const begun = await idempotency.begin({ projectId, operation: 'execute', key });
      // Only what is written below was ever stored under such a print.
      if (begun.kind === 'answered') return (begun.replay(print) as { accepted: string }).accepted;
      try {
        const runId = await accept((accepted) => begun.complete(print, { accepted }));
        begun.stored();
        return runId;
      } finally {
        await begun.release();
      }
    },
  };
}

function toStored({ code, message, details }: Problem) {
  return { code, message, details };
}

function unpack(answer: Answer): ExecuteResult {
  if ('result' in answer) return answer.result;
  if ('tooLarge' in answer) throw answerNotStored(answer.tooLarge);
  const { code, message, details } = answer.problem;
  throw new Problem(code, message, details === undefined ? {} : { details });
}

function answerNotStored({ run_id, bytes }: { readonly run_id: string; readonly bytes: number }): Problem {
  const reason = `its answer of ${bytes} bytes is larger than the ${maxStoredBytes} that are stored for a repetition`;
  return new Problem(
    'DUPLICATE_OBJECT',
    `Idempotency-Key: the run ${run_id} has ended, and ${reason}. Use another key to run it again.`,
  );
}

/**
 * The arguments, and a hash that distinguishes callers' credentials. Credentials themselves are not stored. The keyed hash
 * can neither be guessed nor confirmed without the key. Without a key, it is sixteen bits of a plain hash: too few to confirm a credential
 * with.
 */
function fingerprintOf(
  { bundle_id, plugin_id, input_params, credentials }: ExecuteRequest,
  salt: string,
  mac: ((text: string) => string) | null,
): string {
  const args = createHash('sha256')
    .update(canonical([bundle_id, plugin_id, input_params]))
    .digest('hex');
  const text = `${salt}\n${canonical(credentials)}`;
  const tag = mac === null ? createHash('sha256').update(text).digest('hex').slice(0, 4) : mac(text);
  return `${args}.${tag}`;
}

/** JSON with sorted members: the order in which a client writes them means nothing. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
