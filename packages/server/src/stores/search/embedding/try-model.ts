import { type Embedder, EmbedderUnavailable } from './embedder.ts';

/** What one short text has shown about a model. */
export interface ModelTrial {
  /** Null when there was no vector. */
  readonly dimensions: number | null;
  /** Why the trial failed; null when it succeeded. It contains no credential. */
  readonly problem: string | null;
}

/** The maximum wait of a person for the trial of a model, in milliseconds. */
const maxWaitMs = 10_000;

/** Tries a model for a person who waits. @see tryModel */
export async function tryModelSoon(
  embedder: Pick<Embedder, 'embedQuestion'>,
  wanted: number | null,
): Promise<ModelTrial> {
  const limit = AbortSignal.timeout(maxWaitMs);
  try {
    return await tryModel(embedder, wanted, limit);
  } catch (error) {
    if (!limit.aborted) throw error;
    return { dimensions: null, problem: `The model returned no vector within ${maxWaitMs / 1000} s.` };
  }
}

/**
 * Sends one short text, without retries, so that a wrong address, key, model or number of dimensions is known before the
 * first chunk is sent.
 * @param wanted the dimensions of the settings; null for those of the model
 * @throws the reason of the aborted signal
 */
export async function tryModel(
  embedder: Pick<Embedder, 'embedQuestion'>,
  wanted: number | null,
  signal: AbortSignal,
): Promise<ModelTrial> {
  try {
    const { length: dimensions } = await embedder.embedQuestion('test', signal);
    const problem =
      wanted === null || wanted === dimensions
        ? null
        : `The model returned a vector of ${dimensions} dimensions, but QUARTERMASTER_EMBEDDING_DIMENSIONS is ${wanted}.`;
    return { dimensions, problem };
  } catch (error) {
    if (!(error instanceof EmbedderUnavailable)) throw error;
    return { dimensions: null, problem: error.message };
  }
}
