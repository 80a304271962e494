import type { FunctionFormat } from './function-format.ts';
import { openaiStrict } from './openai-strict.ts';

/** The format of `tools[]` in OpenAI's Responses API: the members of a strict function are on the same level as its type. */
export const openaiResponses: FunctionFormat = (described) => {
  const { definition, losses } = openaiStrict(described);
  const { type, function: members } = definition;
  return { definition: { type, ...Object(members) }, losses };
};
