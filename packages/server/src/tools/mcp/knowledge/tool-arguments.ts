import { defaultResults, MetadataFilter, maxResults, mostNeighbours } from '@quartermaster/contract';
import { type Static, Type } from 'typebox';
import { answerTokens } from './answer-size.ts';
import { maxAddressLength } from './chunk-address.ts';

/** The limits of one question over MCP. */
export const questionLimits = {
  /** Characters of `query`. */
  query: 4_096,
  collections: 20,
  results: maxResults,
  /** The chunks that all collections of a question rank together. */
  ranked: 200,
} as const;

const maxTokens = Type.Optional(
  Type.Integer({
    minimum: answerTokens.least,
    maximum: answerTokens.most,
    default: answerTokens.default,
    description: 'Most tokens of the answer.',
  }),
);
const id = Type.String({ minLength: 1, maxLength: 50 });
const cursor = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: '`next_cursor` of the previous answer.' }),
);
const results = Type.Integer({
  minimum: 1,
  maximum: questionLimits.results,
  default: defaultResults,
  description: 'Most passages of the answer.',
});

export const CollectionsArguments = Type.Object({ cursor });
export const FetchArguments = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: maxAddressLength,
    description: 'The `id` of a search result, a `next_id`, or the URI of a resource.',
  }),
  max_tokens: maxTokens,
});
export const CollectionSearchArguments = Type.Object({
  query: Type.String({ minLength: 1, maxLength: questionLimits.query, description: 'The question, or words to find.' }),
  filters: Type.Optional(MetadataFilter),
  top_k: Type.Optional(results),
  expand: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: mostNeighbours,
      default: 0,
      description: 'Passages of the same document to add before and after each one.',
    }),
  ),
  max_tokens: maxTokens,
  cursor,
});
export const SearchArguments = Type.Object({
  ...CollectionSearchArguments.properties,
  collections: Type.Optional(
    Type.Array(id, {
      minItems: 1,
      maxItems: questionLimits.collections,
      description: 'Ids of collections, as list_collections gives them. Default: all.',
    }),
  ),
});
export type SearchArguments = Static<typeof SearchArguments>;
