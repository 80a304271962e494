import { type Static, Type } from 'typebox';
import { MetadataFilter } from './metadata-filter.ts';
import { textLimits } from './store-bounds.ts';
import { rankings, rerankings, wordsReasons } from './vocabulary.ts';

/** Questions about the chunks of a collection. Source: docs/contract.md "Collections, records, chunks". */

/** The most chunks of one answer. The ancestor allows 20. */
export const maxResults = 100;
/** The default number of results. docs/reference/questions.md shows how often three and ten results contain the answer. */
export const defaultResults = 10;
/** The most collections of one question. */
export const mostAskedCollections = 20;
/** The most neighbours of a result in each direction. */
export const mostNeighbours = 5;
/** The most equal chunks that a hit names. */
export const mostEqualChunks = 20;

/**
 * The `matchScore` from which on key words, and questions that vectors helped to answer, have a good match. `score_threshold` replaces it.
 * docs/reference/questions.md shows what was measured.
 */
export const goodScore = 0.4;

/**
 * The same for a question with stop words that words alone answer. A chunk covers a short question by chance more easily than a long one.
 * @param words the number of words in the question; a stop word counts as 0.3
 */
export function goodScoreOf(words: number): number {
  return Math.min(0.65, 0.27 + 1.08 / words);
}

/** Returns the best score plus its lead over the second: a right answer stands out from the others. Without another result there is no lead. */
export function matchScore(scores: readonly number[]): number {
  let [best, second]: [number, number | undefined] = [0, undefined];
  for (const [at, score] of scores.entries()) {
    if (at === 0) best = score;
    else if (score > best) [best, second] = [score, best];
    else second = Math.max(second ?? 0, score);
  }
  return best + (second === undefined ? 0 : best - second);
}

/** How much the rankings count. */
export const RankingWeights = Type.Object(
  {
    words: Type.Number({ minimum: 0, maximum: 1 }),
    vectors: Type.Number({ minimum: 0, maximum: 1 }),
  },
  {
    additionalProperties: false,
    description:
      'Weights of the two rankings in the fused one, relative to each other: the larger counts in full. At least one must be more than 0.',
  },
);
export type RankingWeights = Static<typeof RankingWeights>;

const rankingFields = {
  mode: Type.Optional(
    Type.Enum([...rankings], {
      description:
        '`fused` (default) ranks by words and vectors, `vectors` by vectors alone, `words` by words alone. Words alone answer when vectors are not available.',
    }),
  ),
  weights: Type.Optional(RankingWeights),
  rerank: Type.Optional(
    Type.Boolean({
      description:
        'Sort the best 100 chunks by the configured reranking service, which gets the question and their texts. `reranking` of the answer tells whether it did. Default: false.',
    }),
  ),
  min_similarity: Type.Optional(
    Type.Number({
      minimum: -1,
      maximum: 1,
      description: 'Cosine below which vectors do not find a chunk. Its words still can.',
    }),
  ),
};

/** What a collection sets for questions that do not say otherwise. */
export const RetrievalDefaults = Type.Object(rankingFields, { additionalProperties: false });
export type RetrievalDefaults = Static<typeof RetrievalDefaults>;

/** How a question was answered. */
export const RankingAnswer = {
  ranking: Type.Enum([...rankings], { description: 'The ranking that answered.' }),
  ranking_reason: Type.Union([Type.Enum([...wordsReasons]), Type.Null()], {
    description:
      'Why words alone answered, otherwise null. `requested`: `mode` is `words`; `no_embedder`: no embedding model is configured; `collection_not_embedded`: chunks lack their vectors; `not_measured`: the similarities of the collection are not measured yet; `other_model`, `other_dimensions`: the vectors do not fit the configured model; `provider_unavailable`: the question got no vector in time; `index_not_built`: the index of the vectors is being built.',
  }),
};

/** Whether an answer is worth showing. */
export const GoodMatchAnswer = {
  good_match: Type.Boolean({
    description: `Whether the collection probably has an answer: with \`score_threshold\`, whether the best score reaches it; otherwise whether the best score plus its lead over the second is high enough, which means ${goodScore} for key words and with vectors, and otherwise 0.27 + 1.08 / number of words of the question, but at most 0.65. Stop words count as 0.3 words. A number or name of the question that none of the first ten returned chunks contains lowers this sum by 55 %, and one that only the best chunk lacks by 25 %.`,
  }),
};

/** Whether the reranking service sorted an answer. */
export const RerankingAnswer = {
  reranking: Type.Enum([...rerankings], {
    description:
      '`off`: the question did not ask for it; `applied`: the service sorted the best chunks; `unavailable`: it failed, and the order is that of the search; `not_configured`: there is no service.',
  }),
};

export const ChunkQuery = Type.Object({
  query_text: Type.String({ minLength: 1, maxLength: textLimits.query }),
  top_k: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxResults,
      default: defaultResults,
      description: 'Maximum number of chunks in the answer.',
    }),
  ),
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description:
        'Return the page that follows the chunk with this id, the last one of the previous answer. Repeat the other members.',
    }),
  ),
  max_tokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Maximum number of tokens of all returned chunks together. A chunk that does not fit is skipped.',
    }),
  ),
  score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  filters: Type.Optional(MetadataFilter),
  expand: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: mostNeighbours,
      default: 0,
      description:
        'Add to each chunk the chunks up to this many positions before and after it in its record. `max_tokens` counts them, too.',
    }),
  ),
  explain: Type.Optional(Type.Boolean({ description: 'Add to each chunk why it was found.', default: false })),
  ...rankingFields,
  rerank_model_id: Type.Optional(
    Type.String({ maxLength: 256, description: 'Accepted but ignored. `rerank` asks for the configured model.' }),
  ),
});
export type ChunkQuery = Static<typeof ChunkQuery>;

/** A question about several collections. */
export const CollectionsQuery = Type.Object({
  collection_ids: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
    minItems: 1,
    maxItems: mostAskedCollections,
    description: 'Ids of collections of the project. A repeated id counts once.',
  }),
  ...ChunkQuery.properties,
});
export type CollectionsQuery = Static<typeof CollectionsQuery>;

/** How each collection of a question was ranked. */
export const CollectionRankings = Type.Array(Type.Object({ collection_id: Type.String(), ...RankingAnswer }), {
  description: 'How each collection was ranked, in the order of the question.',
});
