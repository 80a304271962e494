import type { Clock } from '../../kernel/clock.ts';
import { type Embedder, EmbedderUnavailable } from '../embedding/embedder.ts';

/** Questions remembered: the same one is often asked of several collections, or again. */
const remembered = 256;
/** Milliseconds that a question waits for its vector; then it is answered by words alone. */
const patienceMs = 3_000;

/** Milliseconds after a failure in which nobody else is made to wait for one. */
const restMs = 10_000;

/** Vectors of questions. The same question at the same time is embedded once. */
export function createQuestionVectors(embedder: Embedder, clock: Clock) {
  let restUntil = 0;
  let reason = '';
  // A Map remembers the order of insertion: the first key is the one used longest ago.
  const known = new Map<string, Promise<Float32Array>>();

  async function embed(text: string): Promise<Float32Array> {
    const left = restUntil - clock.now();
    // More than that is left only when the clock was set back.
    if (left > 0 && left <= restMs) throw new EmbedderUnavailable(reason);
    const signal = AbortSignal.timeout(patienceMs);
    try {
      return await embedder.embedQuestion(text, signal);
    } catch (error) {
      if (!signal.aborted && !(error instanceof EmbedderUnavailable)) throw error;
      reason = signal.aborted ? `the embedder gave no vector within ${patienceMs} ms` : String(error);
      restUntil = clock.now() + restMs;
      throw new EmbedderUnavailable(reason);
    }
  }

  return {
    /** @throws EmbedderUnavailable. */
    find(text: string): Promise<Float32Array> {
      const found = known.get(text) ?? embed(text);
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
