import { type Static, Type } from 'typebox';

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
  reason: Type.Union([Type.String(), Type.Null()], {
    description: 'Why a chunk has no vector; null if no attempt failed.',
  }),
});
export type RecordEmbedding = Static<typeof RecordEmbedding>;
