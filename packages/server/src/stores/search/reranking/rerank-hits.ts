import type { Logger } from '../../../platform/log/logger.ts';
import type { DistinctHit } from '../query/find-distinct.ts';
import { maxAnswerWeight } from '../query/select-hits.ts';
import type { RerankerMetrics } from './reranker.ts';
import { type Reranker, RerankerUnavailable, type RerankingOutcome } from './reranker.ts';

export interface RerankedHit<Stored> extends DistinctHit<Stored> {
  /** What the service returned; absent when it did not get the text. */
  readonly relevance?: number;
}

export interface RerankDeps {
  readonly reranker: Reranker;
  readonly metrics: RerankerMetrics;
  readonly logger: Logger;
}

export interface RerankedQuestion<Stored> {
  readonly text: string;
  /** Best first. */
  readonly hits: ReadonlyArray<DistinctHit<Stored>>;
  /** Reads the texts of these results in one statement. A deleted chunk has none. */
  readonly readTexts: (seqs: readonly number[]) => Promise<ReadonlyMap<number, string>>;
  readonly signal: AbortSignal;
}

/** The results that one question sends. Services count 100 texts as one search. */
export const mostReranked = 100;
/** The characters of a text that are sent. Models read some 4,000 tokens. */
export const longestRerankedText = 8_000;

/**
 * Sorts the best results by their relevance; the others follow in their order. Each page of a question sends the same texts, so
 * that pages fit together. While the service fails, the order of the search remains.
 */
export async function rerankHits<Stored>(
  { reranker, metrics, logger }: RerankDeps,
  { text, hits, readTexts, signal }: RerankedQuestion<Stored>,
): Promise<{ readonly hits: ReadonlyArray<RerankedHit<Stored>>; readonly outcome: RerankingOutcome }> {
  const texts = await readTexts(fitting(hits).map(({ hit }) => hit.seq));
  const sent = hits.filter(({ hit }) => texts.has(hit.seq));
  if (sent.length === 0) return { hits, outcome: 'applied' };
  const started = performance.now();
  const end = (outcome: RerankingOutcome) => metrics.reranked(outcome, performance.now() - started);
  try {
    const documents = sent.map(({ hit }) => cut(texts.get(hit.seq) ?? ''));
    const scores = await reranker.rank(cut(text), documents, signal);
    const ranked = sent.map((found, place) => ({ ...found, relevance: scores[place] as number })); // as many as documents
    // Sorting is stable: equal texts keep the order of the search.
    ranked.sort((a, b) => b.relevance - a.relevance);
    end('applied');
    return { hits: [...ranked, ...hits.filter(({ hit }) => !texts.has(hit.seq))], outcome: 'applied' };
  } catch (error) {
    if (!(error instanceof RerankerUnavailable)) throw error;
    end('unavailable');
    logger.warn({ reason: error.message }, 'question answered without reranker');
    return { hits, outcome: 'unavailable' };
  }
}

/** The best results whose texts may be read together. */
function fitting<Stored>(hits: ReadonlyArray<DistinctHit<Stored>>): Array<DistinctHit<Stored>> {
  let left = maxAnswerWeight;
  const best = hits.slice(0, mostReranked);
  const end = best.findIndex(({ described }) => {
    left -= described.weight;
    return left < 0;
  });
  return end < 0 ? best : best.slice(0, Math.max(1, end));
}

/** Truncates a text, but never within a surrogate pair. Services refuse an empty text. */
function cut(text: string): string {
  const bounded =
    text.length > longestRerankedText ? text.slice(0, longestRerankedText).toWellFormed() : text.toWellFormed();
  return bounded.trim() === '' ? '.' : bounded;
}
