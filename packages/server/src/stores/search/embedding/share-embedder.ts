import type { Admission } from '../../../platform/admission/admission.ts';
import type { AdmissionQueue } from '../../../platform/admission/admission-queue.ts';
import { keyless } from '../../../platform/admission/owner.ts';
import { queues } from '../../../platform/admission/queues.ts';
import { type RetryPolicy, retryDelayMs } from '../../../platform/concurrency/retry-delay.ts';
import { type Asker, type Embedder, EmbedderUnavailable, type TextFailure } from './embedder.ts';

/** An embedder with one circuit breaker and one limit on concurrent calls, for all chunks and questions of the process. */
export interface SharedEmbedder extends Embedder {
  /** Whether the embedder has failed and is not called for chunks at present. */
  isPaused(): boolean;
  /** Why the embedder is not called for chunks, with the milliseconds since the failure and until the next call; null when it is called. */
  findPause(): EmbedderPause | null;
  /**
   * Embeds a text for a person who asks for an attempt, even during a pause, which a success ends. Another attempt in the next
   * 10 s of a pause is not sent.
   */
  embedNow(text: string, signal: AbortSignal): Promise<Float32Array>;
  /** The number of dimensions of the last vector; null before the first one. */
  dimensions(): number | null;
}

export interface EmbedderPause {
  readonly reason: string;
  readonly sinceMs: number;
  readonly remainingMs: number;
}

export interface ShareOptions {
  /** The pause after failures. It doubles with each failed call after a pause. */
  readonly pauses: RetryPolicy;
  /** Called when a call succeeds after a failure. */
  readonly onRecovered?: () => void;
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number;
  readonly admission: Admission;
}

/** The maximum number of questions that are sent at the same time. Chunks do not occupy their calls. */
export const maxConcurrentQuestions = queues.embedding_questions.atOnce;
/** The failed questions in a row after which the embedder is paused. A failed batch has been retried and counts as all. */
const failedQuestionsBeforePause = 3;
/** The minimum time between two questions that test a paused embedder, in milliseconds. */
const questionTestMs = 10_000;

/**
 * Pauses an embedder that fails. After the pause one call tests it, and the others wait for its end. A question may test
 * it earlier, because a person waits for the answer, but not before the end of a delay that the service requested.
 */
export function shareEmbedder(embedder: Embedder, options: ShareOptions): SharedEmbedder {
  const { pauses, onRecovered, now = () => performance.now(), admission } = options;
  const waiting = Number.POSITIVE_INFINITY;
  const batches = admission.queue('embedding_batches', { permits: embedder.lanes, waiting });
  const questions = admission.queue('embedding_questions', { waiting });
  let failures = 0;
  let failedQuestions = 0;
  let paused = { at: 0, until: 0, untilForQuestions: 0, reason: '' };
  let nextAttempt = Number.NEGATIVE_INFINITY;
  let test: Promise<void> | undefined;
  let dimensions: number | null = null;

  function noteDimensions(vectors: ReadonlyArray<Float32Array | TextFailure>): void {
    const vector = vectors.find((each) => each instanceof Float32Array);
    if (vector !== undefined) dimensions = vector.length;
  }

  function pause({ message, retryAfterMs }: EmbedderUnavailable): void {
    const at = now();
    // Calls that were sent together fail together, and count once.
    if (at >= paused.until) failures += 1;
    const until = at + Math.max(retryDelayMs(pauses, failures), retryAfterMs ?? 0);
    const untilForQuestions = at + Math.max(Math.min(until - at, questionTestMs), retryAfterMs ?? 0);
    paused = { at, until: Math.max(until, paused.until), untilForQuestions, reason: message };
  }

  function recover(): void {
    const hadFailed = failures > 0;
    failures = 0;
    failedQuestions = 0;
    paused = { at: 0, until: 0, untilForQuestions: 0, reason: '' };
    if (hadFailed) onRecovered?.();
  }

  function check(isQuestion: boolean): void {
    const remaining = (isQuestion ? paused.untilForQuestions : paused.until) - now();
    if (remaining > 0) throw new EmbedderUnavailable(paused.reason, Math.ceil(remaining));
  }

  async function callOnce<Value>(isQuestion: boolean, call: () => Promise<Value>): Promise<Value> {
    check(isQuestion);
    while (test !== undefined && !isQuestion) {
      await test;
      check(isQuestion);
    }
    if (failures === 0) return observe(isQuestion, call);
    const { promise, resolve } = Promise.withResolvers<void>();
    test = promise;
    try {
      return await observe(isQuestion, call);
    } finally {
      if (test === promise) test = undefined;
      resolve();
    }
  }

  async function observe<Value>(isQuestion: boolean, call: () => Promise<Value>): Promise<Value> {
    try {
      const value = await call();
      recover();
      return value;
    } catch (error) {
      if (error instanceof EmbedderUnavailable) {
        failedQuestions += isQuestion ? 1 : 0;
        if (!isQuestion || failures > 0 || failedQuestions >= failedQuestionsBeforePause) pause(error);
      }
      throw error;
    }
  }

  return {
    ...embedder,
    isPaused: () => now() < paused.until,
    findPause: () => pauseAt(paused, now()),
    async embedNow(text, signal) {
      const at = now();
      if (at < paused.until && at < nextAttempt) throw new EmbedderUnavailable(paused.reason, nextAttempt - at);
      nextAttempt = at + questionTestMs;
      const vector = await inTurn(questions, { signal }, () => embedder.embedQuestion(text, signal));
      recover();
      noteDimensions([vector]);
      return vector;
    },
    dimensions: () => dimensions,
    async embed(texts, signal, options) {
      const call = () => callOnce(false, () => embedder.embed(texts, signal, options));
      const vectors = await inTurn(batches, { signal, owner: options?.owner }, call);
      noteDimensions(vectors);
      return vectors;
    },
    async embedQuestion(text, signal, { owner, onSent } = {}) {
      const call = () => callOnce(true, () => embedder.embedQuestion(text, signal));
      const vector = await inTurn(questions, { signal, owner, onSent }, call);
      noteDimensions([vector]);
      return vector;
    },
  };
}

function pauseAt(
  { reason, at, until }: { reason: string; at: number; until: number },
  now: number,
): EmbedderPause | null {
  return now < until ? { reason, sinceMs: now - at, remainingMs: until - now } : null;
}

async function inTurn<Value>(
  queue: AdmissionQueue,
  { signal, owner = keyless, onSent }: Asker & { readonly signal: AbortSignal },
  task: () => Promise<Value>,
): Promise<Value> {
  const end = await queue.acquire(owner, { signal });
  if (end === null) throw signal.reason;
  try {
    onSent?.();
    return await task();
  } finally {
    end();
  }
}
