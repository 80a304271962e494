import { type Static, Type } from 'typebox';
import { Timestamp } from './envelope.ts';
import { vectorRoles, vectorStates } from './vocabulary.ts';

/** The state of vectors. Source: docs/contract.md "Collections, records, chunks". */

/** The vectors of the chunks of a record at the time of the answer. */
export const RecordEmbedding = Type.Object({
  model: Type.String({ description: 'The configured embedding model.' }),
  num_embedded: Type.Integer({ description: 'Number of chunks that have a vector of this model.' }),
  num_pending: Type.Integer({
    description: 'Number of chunks that wait for their vector. Their words are found immediately.',
  }),
  num_refused: Type.Integer({
    description: 'Number of chunks whose text the model refused. Only full-text search finds them.',
  }),
  num_tokens: Type.Integer({
    description:
      'Number of tokens of these chunks, as the provider counted them; 0 if it states none. Chunks that are sent together share the tokens of their requests by the lengths of their texts.',
  }),
  reason: Type.Union([Type.String(), Type.Null()], {
    description: 'Why a chunk has no vector; null if no attempt failed.',
  }),
});
export type RecordEmbedding = Static<typeof RecordEmbedding>;

/** A failed attempt to embed chunks. */
export const EmbeddingError = Type.Object({
  reason: Type.String({ description: 'Why the last attempt failed. It contains no credential.' }),
  timestamp: Timestamp,
  next_attempt_timestamp: Type.Union([Timestamp, Type.Null()], {
    description: 'Time of the next attempt; null if there is none.',
  }),
});
export type EmbeddingError = Static<typeof EmbeddingError>;

/** The vectors of the chunks of a collection at the time of the answer. */
export const CollectionEmbedding = Type.Object({
  model: Type.String({ description: 'The embedding model of the vectors.' }),
  dimensions: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Number of dimensions of a vector; null until the first one is stored.',
  }),
  configured_dimensions: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'Number of dimensions of the vectors that the configured model returns; null until the service has received one. If it differs from `dimensions`, `vectors` is `other_model`.',
  }),
  num_embedded: Type.Integer({ description: 'Number of chunks that have a vector.' }),
  num_pending: Type.Integer({
    description: 'Number of chunks that wait for their vector. Their words are found immediately.',
  }),
  num_refused: Type.Integer({
    description: 'Number of chunks whose text the model refused. Only full-text search finds them.',
  }),
  num_tokens: Type.Integer({
    description:
      'Number of tokens of all chunks that were sent to any model so far, as the providers counted them; 0 if they state none.',
  }),
  last_error: Type.Union([EmbeddingError, Type.Null()], {
    description: 'The last failed attempt; null when no attempt has failed since the last success.',
  }),
});
export type CollectionEmbedding = Static<typeof CollectionEmbedding>;

/** A chunk without a vector, because its text has failed. */
export const EmbeddingFailure = Type.Object({
  object: Type.Literal('EmbeddingFailure'),
  chunk_id: Type.String(),
  record_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the record; null for a chunk that was created directly.',
  }),
  excerpt: Type.String({ description: 'The first 200 characters of the text that was sent.' }),
  reason: Type.String({ description: 'Why the last attempt failed. It contains no credential.' }),
  num_attempts: Type.Integer({ description: 'Number of failed attempts in a row.' }),
  next_attempt_timestamp: Type.Union([Timestamp, Type.Null()], {
    description: 'Time of the next attempt; null if the model refused the text, which is then not sent again.',
  }),
});
export type EmbeddingFailure = Static<typeof EmbeddingFailure>;

/** A set of vectors of a collection. */
export const VectorSet = Type.Object({
  role: Type.Enum([...vectorRoles], {
    description:
      '`live`: answers questions; `next`: is being built and becomes `live` when every chunk has its vector; `kept`: was in use before, and is in use again after `reembed` with its model. A collection has at most one that is not `live`.',
  }),
  embedding_model_id: Type.String(),
  model: Type.String({ description: 'Provider and name of the model.' }),
  dimensions: Type.Integer({ description: '0 until the first vector is stored.' }),
  num_embedded: Type.Integer({
    description: 'Number of its vectors. Those of replaced chunks count until they are removed.',
  }),
  num_refused: Type.Integer({ description: 'Number of chunks whose text the model refused.' }),
  last_error: Type.Union([EmbeddingError, Type.Null()], {
    description: 'Why its last attempt failed, or why its model is paused; null after a success.',
  }),
});
export type VectorSet = Static<typeof VectorSet>;

/** What an embedding would take. */
export const EmbeddingEstimate = Type.Object({
  model: Type.String({ description: 'Provider and name of the model.' }),
  num_chunks: Type.Integer({
    description:
      'Number of chunks that would be embedded. Chunks that already have a vector of the model are left out when its set is kept or being built. Vectors that can be copied from chunks with equal texts are not left out.',
  }),
  num_tokens: Type.Integer({
    description:
      'Number of tokens of these chunks, estimated from at most 1,000 chunks. A provider may count other tokens.',
  }),
  cost: Type.Union([Type.Number(), Type.Null()], {
    description: 'num_tokens times the price of the model, in the currency of the price; null if no price is set.',
  }),
});
export type EmbeddingEstimate = Static<typeof EmbeddingEstimate>;

/** The members of a collection about its vectors. */
export const vectorFields = {
  vectors: Type.Enum([...vectorStates], {
    description:
      '`off`: no embedding model is configured; `catching_up`: some chunks still lack their vectors, and queries use full-text search only until all have them; `other_model`: its vectors are of a model that is not configured, and are not used until it is re-embedded.',
  }),
  vector_sets: Type.Array(VectorSet, { description: 'The sets of vectors, the one in use first.' }),
  num_refused_chunks: Type.Integer({
    description:
      'Number of chunks whose text the embedding model refused. They have no vector until the collection is re-embedded.',
  }),
  embedding: Type.Union([CollectionEmbedding, Type.Null()], {
    description: 'State of the vectors; null without an embedding model.',
  }),
  embedding_paused: Type.Boolean({ description: 'Whether no chunks of the collection are embedded at present.' }),
  embedding_estimate: Type.Optional(EmbeddingEstimate),
};

export const CollectionReembedQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'Change nothing, and return `embedding_estimate` with the chunks, tokens and cost.',
      default: false,
    }),
  ),
  embedding_model_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Id of a configured model. Default: the first model. An error names the ids of all models.',
    }),
  ),
});
export type CollectionReembedQuery = Static<typeof CollectionReembedQuery>;

/** The recommended embedding models, and the one that the service downloads. Source: docs/guides/embedding.md "A recommended model". */

const RecommendedModel = Type.Object({
  name: Type.String(),
  languages: Type.String(),
  licence: Type.String({ description: 'Licence of the model, as its page states it.' }),
  dimensions: Type.Integer(),
  bytes: Type.Integer({ description: 'Size of the files to download, rounded to three digits.' }),
  state: Type.Union([Type.Enum(['in_use', 'former', 'downloaded']), Type.Null()], {
    description:
      'New collections get the model that is `in_use`. The vectors of the `former` one answer until those of the new one are complete.',
  }),
});

/** What a download does at present, in this order. */
export const modelPhases = ['runtime', 'download', 'trial', 'failed'] as const;

const ModelDownload = Type.Object({
  model: Type.String(),
  phase: Type.Unsafe<(typeof modelPhases)[number]>(
    Type.Enum([...modelPhases], {
      description:
        '`runtime`: the service installs the runtime for local models. `download`: it downloads the files. `trial`: the model embeds one text. `failed`: see `error`.',
    }),
  ),
  bytes: Type.Integer({ description: 'Bytes that have arrived.' }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed and what to do, otherwise null.' }),
});

export const EmbeddingModels = Type.Object({
  object: Type.Literal('EmbeddingModels'),
  models: Type.Array(RecommendedModel),
  source: Type.String({ description: 'Address from which the models are downloaded.' }),
  obstacle: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the service cannot choose a model by itself and what to do; null when it can.',
  }),
  download: Type.Union([ModelDownload, Type.Null()], {
    description: 'The download in progress, or the last one if it failed since the start of the service.',
  }),
  collections: Type.Union(
    [
      Type.Object({
        num_embedded: Type.Integer({ description: 'Number of these collections whose chunks are all embedded.' }),
        num_all: Type.Integer({ description: 'Number of collections that have the model in use, or will have it.' }),
      }),
      Type.Null(),
    ],
    {
      description:
        'Progress of the embedding in all projects; null without a model, and for a moment after it was chosen.',
    },
  ),
});
export type EmbeddingModels = Static<typeof EmbeddingModels>;

export const EmbeddingModelChoice = Type.Object({
  model: Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Null()], {
    description: 'Name of a recommended model. Null cancels the download in progress.',
  }),
});
export type EmbeddingModelChoice = Static<typeof EmbeddingModelChoice>;
