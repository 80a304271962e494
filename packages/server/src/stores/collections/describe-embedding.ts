import type {
  CollectionEmbedding,
  EmbeddingError,
  EmbeddingEstimate,
  VectorSet,
  VectorState,
} from '@quartermaster/contract';
import { toModelId } from '../search/embedding/embedders.ts';
import type { EmbeddingFailure, WantedModel } from '../search/vector-repository.ts';
import type { CountedCollection, VectorsOfCollection } from './collection-repository.ts';

/** The models in use, and whether the collections without their vectors were known when the collections were read. */
export interface EmbeddingNow {
  /** The model of new collections. */
  readonly firstModel: string;
  readonly hasModel: (model: string) => boolean;
  /** The dimensions of the last vector of a model; null while they are unknown. */
  readonly dimensionsOf: (model: string) => number | null;
  readonly isReady: boolean;
  /** Why chunks are not sent to a model at present; null when they are. */
  readonly pauseOf: (model: string) => EmbeddingFailure | null;
}

export function vectorStateOf({ vectors }: CountedCollection, embedding: EmbeddingNow | null): VectorState {
  if (embedding === null) return 'off';
  if (vectors === null) return 'current';
  if (!embedding.hasModel(vectors.model)) return 'other_model';
  const configured = embedding.dimensionsOf(vectors.model);
  if (configured !== null && vectors.dimensions !== 0 && configured !== vectors.dimensions) return 'other_model';
  return vectors.needsBackfill || !embedding.isReady ? 'catching_up' : 'current';
}

/** Describes the vectors of a collection. Null without a model. */
export function describeEmbedding(
  { vectors, numChunks }: CountedCollection,
  embedding: EmbeddingNow | null,
): CollectionEmbedding | null {
  if (vectors === null) {
    if (embedding === null) return null;
    const model = embedding.firstModel;
    return {
      ...noVectors,
      model,
      configured_dimensions: embedding.dimensionsOf(model),
      num_pending: numChunks,
      last_error: numChunks === 0 ? null : describePause(model, embedding),
    };
  }
  // The vectors of replaced chunks are counted until they are removed.
  const num_refused = Math.min(vectors.numRefused, numChunks);
  const num_embedded = Math.min(vectors.numEmbedded, numChunks - num_refused);
  const num_pending = numChunks - num_embedded - num_refused;
  return {
    model: vectors.model,
    dimensions: vectors.dimensions === 0 ? null : vectors.dimensions,
    configured_dimensions: embedding?.dimensionsOf(vectors.model) ?? null,
    num_embedded,
    num_pending,
    num_refused,
    num_tokens: vectors.numTokens,
    last_error:
      (vectors.lastError && toError(vectors.lastError)) ??
      (num_pending === 0 ? null : describePause(vectors.model, embedding)),
  };
}

/** Describes a set of vectors that is not in use, or the one in use. */
export function describeVectorSet(set: VectorsOfCollection, embedding: EmbeddingNow | null): VectorSet {
  const { role, model, dimensions, numEmbedded, numRefused, lastError } = set;
  const waits = role !== 'kept' && set.needsBackfill;
  return {
    role,
    embedding_model_id: toModelId(model),
    model,
    dimensions,
    num_embedded: numEmbedded,
    num_refused: numRefused,
    last_error: (lastError && toError(lastError)) ?? (waits ? describePause(model, embedding) : null),
  };
}

/** The failure of another collection pauses a model for all. What the provider said about its texts is left out. */
function describePause(model: string, embedding: EmbeddingNow | null): EmbeddingError | null {
  const pause = embedding?.pauseOf(model) ?? null;
  return (
    pause && toError({ ...pause, reason: `The model is paused for all collections: ${pause.reason.split(' (')[0]}` })
  );
}

/** Estimates what `reembed` would embed. A set of the model that is kept or being built is continued. */
export function estimateEmbedding(
  { vectors, otherVectors, numChunks }: CountedCollection,
  { model, dimensions, price, meanTokens }: WantedModel & { price: number | null; meanTokens: number },
): EmbeddingEstimate {
  const isContinued =
    otherVectors?.model === model &&
    (otherVectors.role === 'next' || vectors?.model !== model) &&
    !hasOtherDimensions(otherVectors, dimensions);
  const stored = isContinued ? otherVectors.numEmbedded : 0;
  const num_chunks = Math.max(0, numChunks - stored);
  const num_tokens = Math.round(num_chunks * meanTokens);
  return { model, num_chunks, num_tokens, cost: price === null ? null : (num_tokens / 1e6) * price };
}

/** Whether `reembed` begins or resumes an embedding. Otherwise it leaves one in progress alone, or ends it. */
export function beginsEmbedding(
  { vectors, otherVectors }: CountedCollection,
  { model, dimensions }: WantedModel,
): boolean {
  if (otherVectors?.role !== 'next') return true;
  return otherVectors.model === model ? hasOtherDimensions(otherVectors, dimensions) : vectors?.model !== model;
}

/** Whether stored vectors do not have the current dimensions of the model. Their embedding then begins again. */
function hasOtherDimensions({ dimensions: stored }: { dimensions: number }, dimensions: number | null): boolean {
  return dimensions !== null && stored !== 0 && stored !== dimensions;
}

const noVectors = { dimensions: null, num_embedded: 0, num_refused: 0, num_tokens: 0, last_error: null };

const toError = ({ reason, at, retryAt }: EmbeddingFailure): EmbeddingError => ({
  reason,
  timestamp: at,
  next_attempt_timestamp: retryAt,
});
