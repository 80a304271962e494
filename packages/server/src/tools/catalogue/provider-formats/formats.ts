import type { DefinitionFormat } from '@quartermaster/contract';
import { anthropic } from './anthropic.ts';
import type { FunctionFormat } from './function-format.ts';
import { gemini } from './gemini.ts';
import { mcp } from './mcp.ts';
import { openai } from './openai.ts';
import { openaiResponses, openaiStrict } from './openai-strict.ts';
import { taskingai } from './taskingai.ts';

/** Every definition format of a plugin except the product's own. */
export const functionFormats: Readonly<Record<DefinitionFormat, FunctionFormat>> = {
  openai,
  'openai-strict': openaiStrict,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  mcp,
  taskingai,
};
