import { type Static, Type } from 'typebox';
import { mostEqualChunks } from './chunk-query.ts';
import { Chunk } from './collections.ts';

/** Chunks as the results of a question. Source: docs/contract.md "Collections, records, chunks". */

/** Why a chunk was found. */
export const Explanation = Type.Object({
  words: Type.Union(
    [
      Type.Object({
        rank: Type.Integer({ description: 'Rank in the full-text search, counted from 1.' }),
        score: Type.Number({
          description: 'BM25 score as a fraction of the highest possible score of the query, 0 to 1.',
        }),
        matched: Type.Array(Type.String(), {
          description:
            'Words of the query that the chunk contains, without stop words, in the stemmed form of the index.',
        }),
      }),
      Type.Null(),
    ],
    { description: 'null if the full-text search did not find the chunk.' },
  ),
  vector: Type.Union(
    [
      Type.Object({
        rank: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Rank in the vector search, counted from 1; null if only the full-text search found the chunk.',
        }),
        similarity: Type.Number({ description: 'Cosine similarity, −1 to 1.' }),
      }),
      Type.Null(),
    ],
    {
      description:
        'null if the chunk has no vector, if its similarity is below the minimum, or if vectors were not used.',
    },
  ),
});
export type Explanation = Static<typeof Explanation>;
export const ScoredChunk = Type.Object({
  ...Chunk.properties,
  score: Type.Number({
    minimum: 0,
    maximum: 1,
    description:
      'With full-text search only: the fraction of the query that the chunk covers. With vectors: about the larger of that fraction and the similarity on the same scale, and more if both are large. A threshold keeps its meaning whatever `ranking` answered.',
  }),
  rerank_score: Type.Optional(
    Type.Number({
      description:
        'Relevance that the reranking service returned; its scale depends on the model. Absent if it did not get the text.',
    }),
  ),
  neighbours: Type.Optional(
    Type.Object(
      {
        before: Type.Array(Chunk, { description: 'In the order of the record.' }),
        after: Type.Array(Chunk, { description: 'In the order of the record.' }),
        omitted: Type.Integer({ description: 'Number of neighbours that the limits of the answer exclude.' }),
      },
      { description: 'Chunks around this one in its record; present with `expand`. Deleted chunks leave a gap.' },
    ),
  ),
  equal_chunks: Type.Optional(
    Type.Object(
      {
        count: Type.Integer({ description: 'Number of these chunks.' }),
        chunks: Type.Array(
          Type.Object({
            chunk_id: Type.String(),
            record_id: Type.Union([Type.String(), Type.Null()]),
            collection_id: Type.String(),
          }),
          { description: `The best of them, at most ${mostEqualChunks}.` },
        ),
      },
      {
        description:
          'Other chunks with the same text that the question ranked. They are not in the answer themselves. Absent if there are none.',
      },
    ),
  ),
  explanation: Type.Optional(Explanation),
});
export type ScoredChunk = Static<typeof ScoredChunk>;
