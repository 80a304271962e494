import { type Static, Type } from 'typebox';
import { mostEqualChunks } from './chunk-query.ts';
import { Chunk } from './collections.ts';
import { Timestamp } from './envelope.ts';
import { ReadSheet, SheetColumns } from './sheets.ts';

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

/** Evaluations of a collection with questions whose answers are known. Source: docs/contract.md "Collections, records, chunks". */

/** The most questions of one evaluation. Each is a search. */
export const mostEvaluated = 300;
/** The most characters of a question. */
export const longestEvaluated = 1_000;

export const EvaluationCreate = Type.Object({
  file_id: Type.String({
    minLength: 1,
    maxLength: 50,
    description: `Id of a file with the purpose \`qa_record_file\`. Each row, at most ${mostEvaluated}, has a question and what must be found.`,
  }),
  columns: Type.Optional(SheetColumns),
});
export type EvaluationCreate = Static<typeof EvaluationCreate>;

const counts = {
  num_questions: Type.Integer(),
  num_first: Type.Integer({ description: 'Questions whose best chunk is right.' }),
  num_within_three: Type.Integer({ description: 'Questions with a right chunk among the best three.' }),
  num_within_ten: Type.Integer({ description: 'Questions with a right chunk among the best ten.' }),
};
export const EvaluatedQuestion = Type.Object({
  row: Type.Union([Type.Integer(), Type.Null()], { description: 'Row of the sheet, from 1.' }),
  question: Type.String(),
  expected: Type.String({ description: 'At most 500 characters of what the sheet expects.' }),
  rank: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Place of the first right chunk, from 1; null if none of the best ten is right.',
  }),
  previous_rank: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: 'The same of the previous evaluation. Absent if that one did not ask the question.',
    }),
  ),
  best: Type.Union([Type.String(), Type.Null()], {
    description: 'Title, file name or URL of the best chunk, or its id; null if nothing was found.',
  }),
});
export type EvaluatedQuestion = Static<typeof EvaluatedQuestion>;

const SkippedRow = Type.Object({
  row: Type.Integer({ description: 'Row of the sheet, from 1.' }),
  code: Type.String({ description: 'Code such as `empty_question` or `empty_answer`, as of the rows of records.' }),
  message: Type.String(),
});
export type SkippedRow = Static<typeof SkippedRow>;

const EvaluationCounts = Type.Object(counts);
export type EvaluationCounts = Static<typeof EvaluationCounts>;

export const Evaluation = Type.Object({
  object: Type.Literal('Evaluation'),
  collection_id: Type.String(),
  created_timestamp: Timestamp,
  ...counts,
  previous: Type.Union(
    [
      Type.Object({
        created_timestamp: Timestamp,
        ...counts,
        num_same: Type.Integer({
          description:
            'Questions that both evaluations asked, with the same expected answer. Compare the counts only if this equals `num_questions` of both.',
        }),
      }),
      Type.Null(),
    ],
    { description: 'The previous evaluation of the collection; null for the first.' },
  ),
  questions: Type.Array(EvaluatedQuestion, { description: 'In the order of the sheet.' }),
  sheets: Type.Optional(
    Type.Array(ReadSheet, {
      description:
        'The first 5 sheets with questions: `columns.question` has the questions, and `columns.answer` what is expected. Absent in results of earlier versions.',
    }),
  ),
  num_skipped: Type.Integer({ description: 'Rows that were not asked, such as rows without an expected answer.' }),
  skipped: Type.Array(SkippedRow, { description: `The first ${mostEvaluated} of them.` }),
});
export type Evaluation = Static<typeof Evaluation>;
