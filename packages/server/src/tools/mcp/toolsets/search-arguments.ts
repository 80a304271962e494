import { maxQuestionCharacters } from '@quartermaster/contract/operations';
import { type Static, Type } from 'typebox';

/** The limits of one search for tools. */
export const toolSearchLimits = {
  /** Characters of `query`. */
  query: maxQuestionCharacters,
  /** Tools of one answer. */
  results: 10,
  /** Tools of all answers to one question. */
  ranked: 100,
} as const;

export const ToolSearchArguments = Type.Object({
  query: Type.String({
    minLength: 1,
    maxLength: toolSearchLimits.query,
    description: 'What the tool should do, in plain words, or the name of a tool.',
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: toolSearchLimits.results,
      default: 5,
      description: 'Most tools of the answer.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: '`next_cursor` of the previous answer.' }),
  ),
});
export type ToolSearchArguments = Static<typeof ToolSearchArguments>;

export const CallArguments = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, description: 'The `name` of a tool that search_tools found.' }),
  arguments: Type.Optional(
    // A plain object, because several clients reject `patternProperties`.
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The input of the tool, by its `inputSchema`.',
    }),
  ),
});
export type CallArguments = Static<typeof CallArguments>;
