import type { Clock } from '../../../platform/clock.ts';
import { Counter, Histogram, type Registry } from '../../../platform/metrics.ts';

/** Sorts texts by how well they answer a question. */
export interface Reranker {
  /** The name of the model, for metrics and messages. */
  readonly model: string;
  /**
   * Returns the relevance of each text, in the order of the texts. Higher is better; the scale depends on the model.
   * @throws RerankerUnavailable
   */
  rank(question: string, texts: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** The texts are not sorted. The message names the reason and contains no key. */
export class RerankerUnavailable extends Error {
  override readonly name = 'RerankerUnavailable';
}

/** Whether the service sorted the results of a question. */
export type RerankingOutcome = 'applied' | 'unavailable';

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

export interface RerankerMetrics {
  /** @param milliseconds the time that the question waited */
  reranked(outcome: RerankingOutcome, milliseconds: number): void;
}

/** Upper bounds in seconds, from a model in the same network to the longest time limit. */
const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 30];

export function createRerankerMetrics(registry: Registry): RerankerMetrics {
  const questions = new Counter({
    name: 'quartermaster_reranked_questions_total',
    help: 'Questions that asked for reranking, by outcome: applied, or unavailable when the order of the search remained.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'quartermaster_reranking_seconds',
    help: 'Time that questions waited for the reranking service, in seconds.',
    buckets: bounds,
    registers: [registry],
  });
  return {
    reranked(outcome, milliseconds) {
      questions.inc({ outcome });
      seconds.observe(milliseconds / 1000);
    },
  };
}
