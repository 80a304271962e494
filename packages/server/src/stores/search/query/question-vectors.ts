import { keyless, type Owner } from '../../../platform/admission/owner.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Asker, type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';

/** The number of cached questions. The same question is often sent to several collections, or repeated. */
const remembered = 256;
/**
 * The maximum milliseconds in which a question waits until it is sent, and then for its vector. Afterwards only full-text
 * search answers.
 */
const maxWaitMs = 3_000;

/** The time after failures in which no question waits for the embedder, in milliseconds. */
const restMs = 10_000;
/** The number of questions in a row that must fail before the embedder is left alone. A timeout of the embedder counts as all of them. */
const failuresBeforeRest = 3;

/**
 * Embeds questions with a cache. Concurrent requests of a project for the same question share one call. A failed call is repeated
 * once, unless the service asks for a delay.
 */
export function createQuestionVectors(embedder: Embedder, clock: Clock) {
  let restUntil = 0;
  let failures = 0;
  let reason = '';
  // A Map preserves the order of insertion, so the first key is the least recently used.
  const known = new Map<
    string,
    { readonly vector: Promise<Float32Array>; readonly projectId: string | null; isDone: boolean }
  >();

  async function embed(text: string, owner: Owner): Promise<Float32Array> {
    const remaining = restUntil - clock.now();
    // A longer remaining time means that the clock was set back.
    if (remaining > 0 && remaining <= restMs) throw new EmbedderUnavailable(reason);
    const limit = new AbortController();
    const { signal } = limit;
    const startLimit = () => setTimeout(() => limit.abort(), maxWaitMs);
    let timer = startLimit();
    let isSent = false;
    const onSent = () => {
      if (isSent) return;
      isSent = true;
      clearTimeout(timer);
      timer = startLimit();
    };
    try {
      const vector = await embedWithRetry(text, signal, { owner, onSent });
      failures = 0;
      return vector;
    } catch (error) {
      if (!signal.aborted && !(error instanceof EmbedderUnavailable)) throw error;
      // Other questions were sent first, which says nothing about the embedder.
      if (!isSent && signal.aborted) throw new EmbedderUnavailable(`The question was not sent within ${maxWaitMs} ms`);
      reason = signal.aborted ? `The embedder returned no vector within ${maxWaitMs} ms` : String(error);
      failures += signal.aborted ? failuresBeforeRest : 1;
      if (failures >= failuresBeforeRest) restUntil = clock.now() + restMs;
      throw new EmbedderUnavailable(reason);
    } finally {
      clearTimeout(timer);
    }
  }

  function embedWithRetry(text: string, signal: AbortSignal, asker: Asker): Promise<Float32Array> {
    return embedder.embedQuestion(text, signal, asker).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof EmbedderUnavailable) || error.retryAfterMs !== null) throw error;
      return embedder.embedQuestion(text, signal, asker);
    });
  }

  return {
    /** @throws EmbedderUnavailable. */
    find(text: string, owner: Owner = keyless): Promise<Float32Array> {
      const { projectId } = owner;
      const cached = known.get(text);
      // The same question of another project waits among the questions of that project.
      const isShared = cached?.isDone === true || cached?.projectId === projectId;
      const found =
        cached !== undefined && isShared ? cached : { vector: embed(text, owner), projectId, isDone: false };
      known.delete(text);
      known.set(text, found);
      const done = () => {
        found.isDone = true;
      };
      const forget = () => {
        if (known.get(text) === found) known.delete(text);
      };
      found.vector.then(done, forget);
      for (const oldest of known.keys()) {
        if (known.size <= remembered) break;
        known.delete(oldest);
      }
      return found.vector;
    },
  };
}
