import type { Owner } from '../../../platform/admission/owner.ts';

/** Why a text has no vector. The reason is for people and contains no credential. */
export interface TextFailure {
  readonly reason: string;
  /** True when the model refuses the text; false when the service failed with an error that may be temporary. */
  readonly isRefused: boolean;
}

/** Receives the tokens of an answer, as the service counted them. Some services state none. */
export type OnTokens = (tokens: number) => void;

/** Of one call of `embed`. */
export interface EmbedCall {
  /** Called with the tokens of each answer, also when another request of the call fails. */
  readonly onTokens?: OnTokens | undefined;
  /** Who waits in turn with the other owners. Default: callers without a key. */
  readonly owner?: Owner | undefined;
}

/** Who asks a question. */
export interface Asker {
  /** Default: a caller without a key. */
  readonly owner?: Owner | undefined;
  /** Called when the question is sent after the questions before it. */
  readonly onSent?: (() => void) | undefined;
}

/** Computes vectors of unit length for texts. Texts with similar meaning have near vectors. */
export interface Embedder {
  /**
   * Identifies provider, model and every setting that affects the vectors. Vectors of different models are never
   * compared.
   */
  readonly model: string;
  /** The maximum number of texts in one call of `embed`. */
  readonly batchSize: number;
  /** The useful number of concurrent calls of `embed`. */
  readonly lanes: number;
  /**
   * Returns a vector or a failure for each text. It retries temporary failures. A text fails alone only when the
   * service accepts another text.
   * @throws EmbedderUnavailable, or the reason of the aborted signal.
   */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    call?: EmbedCall,
  ): Promise<ReadonlyArray<Float32Array | TextFailure>>;
  /** Embeds a question without retries, in the fair order of owners. @throws EmbedderUnavailable, or the reason of the aborted signal. */
  embedQuestion(text: string, signal: AbortSignal, asker?: Asker): Promise<Float32Array>;
  close(): Promise<void>;
}

/**
 * The embedder cannot create vectors at present. The message is for people and contains no credential. `retryAfterMs` is
 * the delay in milliseconds that the service requests, or null.
 */
export class EmbedderUnavailable extends Error {
  readonly retryAfterMs: number | null;
  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.name = 'EmbedderUnavailable';
    this.retryAfterMs = retryAfterMs;
  }
}
