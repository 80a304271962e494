import type { Clock } from '../../../platform/clock.ts';
import { type Reranker, RerankerUnavailable } from './reranker.ts';

/** The time after failures in which no question waits for the service, in milliseconds. */
const pauseMs = 10_000;
/** The number of questions in a row that must fail before the service is left alone. */
const failuresBeforePause = 3;

/** Does not call a reranker for a while after it has failed several times in a row. Cancelled questions do not count. */
export function pauseReranker(reranker: Reranker, clock: Clock): Reranker {
  let failures = 0;
  let pausedUntil = 0;
  let reason = '';
  return {
    ...reranker,
    async rank(question, texts, signal) {
      const remaining = pausedUntil - clock.now();
      // A longer remaining time means that the clock was set back.
      if (remaining > 0 && remaining <= pauseMs) throw new RerankerUnavailable(reason);
      try {
        const scores = await reranker.rank(question, texts, signal);
        failures = 0;
        return scores;
      } catch (error) {
        if (!(error instanceof RerankerUnavailable)) throw error;
        reason = error.message;
        failures += 1;
        if (failures >= failuresBeforePause) pausedUntil = clock.now() + pauseMs;
        throw error;
      }
    },
  };
}
