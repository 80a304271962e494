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
