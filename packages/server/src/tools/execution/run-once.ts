import { createHash } from 'node:crypto';
import type { ErrorCode, ExecuteResult, PluginCall } from '@quartermaster/contract';
import type { Owner } from '../../platform/admission/owner.ts';
import type { Idempotency, NewRequest, RunningRequest } from '../../platform/idempotency/idempotency.ts';
import type { CompletedClaim } from '../../platform/idempotency/idempotency-repository.ts';
import type { KeyedHashes } from '../../platform/keyed-hash.ts';
import { Problem } from '../../platform/problem.ts';
import { projectText } from '../../platform/project-text.ts';
import { resultOf } from './answers.ts';
import type { Execution } from './outcome.ts';
import { outputPartLimits } from './output-parts/output-part.ts';
import { outcomeProblem } from './problems.ts';

/** Executes the runs of an `Idempotency-Key` once. The first request runs; repetitions get its answer. */
export interface RunOnce {
  /**
   * Returns the result of this run or of the earlier one with the same key. Throws the Problem of either.
   * @param run rejects with a Problem when the run cannot begin; the key can be used again after that
   */
  runOnce(place: RunPlace, request: PluginCall, run: () => Promise<Execution>): Promise<ExecuteResult>;
  /**
   * Returns the id of this asynchronous run or of the earlier one with the same key.
   * @param accept stores the claim together with the run
   */
  acceptOnce(place: RunPlace, request: PluginCall, accept: Accept): Promise<string>;
}

/** @returns the id of the run */
export type Accept = (claim: (runId: string) => Promise<CompletedClaim>) => Promise<string>;

export interface RunPlace extends Owner {
  /** The `Idempotency-Key`. */
  readonly key: string;
}

export interface RunOnceDeps {
  readonly idempotency: Idempotency;
  /** Whether running the plugin twice has the same effect as running it once. */
  readonly isRepeatable: (request: PluginCall) => boolean;
  /** The hashes that bind an answer to the credentials of its caller. */
  readonly hashes: KeyedHashes;
}

/**
 * The maximum number of bytes of an answer that is stored for retries: those of the largest output that is returned unchanged, and
 * of the envelope. Only an output whose parts could not be stored is larger.
 */
export const maxStoredBytes = outputPartLimits.inlineBytes + 256 * 1024;

type Answer =
  | { readonly noRoom: { readonly run_id: string } }
  | { readonly tooLarge: { readonly run_id: string; readonly bytes: number } }
  | { readonly result: ExecuteResult }
  | { readonly problem: { readonly code: ErrorCode; readonly message: string; readonly details: Problem['details'] } };

export function createRunOnce({ idempotency, isRepeatable: mayRepeat, hashes }: RunOnceDeps): RunOnce {
  async function runAndKeep(
    claim: RunningRequest,
    print: string,
    run: () => Promise<Execution>,
  ): Promise<ExecuteResult> {
    let mayHaveActed = true;
    try {
      const execution = await run().catch((error: unknown) => {
        // A run that began is rejected only for defects.
        mayHaveActed = !(error instanceof Problem);
        throw error;
      });
      const { outcome, runId, isRepeatable } = execution;
      mayHaveActed = !isRepeatable;
      const problem = outcome.kind === 'succeeded' ? null : outcomeProblem(outcome, runId);
      if (problem !== null && isRepeatable) throw problem;
      const answer = problem === null ? { result: resultOf(execution) } : { problem: toStored(problem) };
      const bytes = Buffer.byteLength(JSON.stringify(answer));
      const stored: Answer = bytes > maxStoredBytes ? { tooLarge: { run_id: runId, bytes } } : answer;
      const noRoom: Answer = { noRoom: { run_id: runId } };
      await claim.finish(print, stored, noRoom);
      return unpack(answer);
    } finally {
      // Has no effect after the answer was stored.
      await claim.release(mayHaveActed);
    }
  }

  return {
    async runOnce(place, request, run) {
      const prints = fingerprintsOf(request, place, hashes);
      const begun = await idempotency.begin({ ...requestKeyOf(place), isRepeatable: mayRepeat(request) });
      // `runAndKeep` wrote every stored answer, so `unpack` can read it.
      if (begun.kind === 'answered') return unpack((await begun.replay(prints)) as Answer);
      return await runAndKeep(begun, prints[0], run);
    },
    async acceptOnce(place, request, accept) {
      // The fingerprint tells requests with `Prefer: respond-async` apart, because their answers differ.
      const prints = fingerprintsOf(request, place, hashes, '.async');
      // Nothing happens before the answer is stored with the run.
      const begun = await idempotency.begin({ ...requestKeyOf(place), isRepeatable: true });
      // Only the completion below stores an answer under this fingerprint.
      if (begun.kind === 'answered') return ((await begun.replay(prints)) as { accepted: string }).accepted;
      try {
        const runId = await accept((accepted) => begun.complete(prints[0], { accepted }));
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
  if ('tooLarge' in answer) throw answerTooLarge(answer.tooLarge);
  if ('noRoom' in answer) throw answerNotStored(answer.noRoom.run_id, noRoomReason);
  const { code, message, details } = answer.problem;
  throw new Problem(code, message, details === undefined ? {} : { details });
}

function answerTooLarge({ run_id, bytes }: { readonly run_id: string; readonly bytes: number }): Problem {
  const reason = `its response of ${bytes} bytes is larger than the ${maxStoredBytes} bytes that are stored for retries`;
  return answerNotStored(run_id, reason);
}

const noRoomReason = 'its response was not stored because the stored responses of the project had reached their limit';

function answerNotStored(runId: string, reason: string): Problem {
  return new Problem(
    'DUPLICATE_OBJECT',
    `Run ${runId} of this Idempotency-Key has ended, and ${reason}. Use another key to run it again.`,
  );
}

function requestKeyOf({ projectId, key, keyId }: RunPlace): Omit<NewRequest, 'isRepeatable'> {
  return { projectId, operation: 'execute', key, callerId: keyId ?? '' };
}

/**
 * The fingerprints of a request: its arguments, and a keyed hash of its credentials, which are not stored. The first is the
 * current one; those under earlier keys of the store follow.
 */
function fingerprintsOf(
  { bundle_id, plugin_id, input_params, credentials }: PluginCall,
  { projectId, key }: RunPlace,
  hashes: KeyedHashes,
  ending = '',
): Fingerprints {
  const args = sha256(canonical([bundle_id, plugin_id, input_params]));
  const text = `${projectText(projectId)} ${key}\n${canonical(credentials)}`;
  const [current = '', ...earlier] = hashes(text).map((tag) => `${args}.${tag}${ending}`);
  return [current, ...earlier];
}

type Fingerprints = readonly [current: string, ...earlier: string[]];

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** JSON with sorted members, so that the order in which a client writes them does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
