import type { Owner } from '../../kernel/admission/owner.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';

/** The number of cached questions. The same question is often sent to several collections, or repeated. */
const remembered = 256;
/** The maximum wait for the vector of a question, in milliseconds. Afterwards only full-text search answers. */
const maxWaitMs = 3_000;

/** The time after failures in which no question waits for the embedder, in milliseconds. */
const restMs = 10_000;
/** The number of questions in a row that must fail before the embedder is left alone. A timeout counts as all of them. */
const failuresBeforeRest = 3;

/**
 * Embeds questions with a cache. Concurrent requests for the same question share one call. A failed call is repeated
 * once, unless the service asks for a delay.
 */
export function createQuestionVectors(embedder: Embedder, clock: Clock) {
  let restUntil = 0;
  let failures = 0;
  let reason = '';
  // A Map preserves the order of insertion, so the first key is the least recently used.
  const known = new Map<string, Promise<Float32Array>>();

  async function embed(text: string, owner?: Owner): Promise<Float32Array> {
    const remaining = restUntil - clock.now();
    // A longer remaining time means that the clock was set back.
    if (remaining > 0 && remaining <= restMs) throw new EmbedderUnavailable(reason);
    const signal = AbortSignal.timeout(maxWaitMs);
    try {
      const vector = await embedWithRetry(text, signal, owner);
      failures = 0;
      return vector;
    } catch (error) {
      if (!signal.aborted && !(error instanceof EmbedderUnavailable)) throw error;
      reason = signal.aborted ? `The embedder returned no vector within ${maxWaitMs} ms` : String(error);
      failures += signal.aborted ? failuresBeforeRest : 1;
      if (failures >= failuresBeforeRest) restUntil = clock.now() + restMs;
      throw new EmbedderUnavailable(reason);
    }
  }

  function embedWithRetry(text: string, signal: AbortSignal, owner?: Owner): Promise<Float32Array> {
    return embedder.embedQuestion(text, signal, owner).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof EmbedderUnavailable) || error.retryAfterMs !== null) throw error;
      return embedder.embedQuestion(text, signal, owner);
    });
  }

  return {
    /** @throws EmbedderUnavailable. */
    find(text: string, owner?: Owner): Promise<Float32Array> {
      const found = known.get(text) ?? embed(text, owner);
      known.delete(text);
      known.set(text, found);
      const forget = () => {
        if (known.get(text) === found) known.delete(text);
      };
      found.catch(forget);
      for (const oldest of known.keys()) {
        if (known.size <= remembered) break;
        known.delete(oldest);
      }
      return found;
    },
  };
}
