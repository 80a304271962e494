/** Makes vectors of texts, all of unit length: what is near means something alike. */
export interface Embedder {
  /** Names provider, model and whatever else changes its vectors. Those of two models are never compared. */
  readonly model: string;
  /** Texts in one call of `embed`. */
  readonly batchSize: number;
  /** Calls of `embed` that make sense at the same time. */
  readonly lanes: number;
  /**
   * One vector a text; null for a text that it refuses. Tries again by itself what may pass.
   * @throws EmbedderUnavailable, or what aborted the signal.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<ReadonlyArray<Float32Array | null>>;
  /** Of a question: at once or not at all. @throws EmbedderUnavailable, or what aborted the signal. */
  embedQuestion(text: string, signal: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/** No vectors can be had just now; the message is for people and holds no credential. */
export class EmbedderUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EmbedderUnavailable';
  }
}
