import { Counter, Histogram, type Registry } from '../../../platform/metrics.ts';
import type { RerankingOutcome } from './reranker.ts';

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
