import { flattenRoot } from './flatten-root.ts';
import {
  createLosses,
  type Defined,
  type Described,
  type FunctionFormat,
  type JsonSchema,
  type Losses,
} from './function-format.ts';
import { inlineReferences } from './inline-references.ts';
import { portable } from './portable-schema.ts';
import { type Rules, rewriteSchema } from './rewrite-schema.ts';
import { toolName } from './tool-name.ts';

/** The maximum number of characters of a function's description at OpenAI. */
const maxDescription = 1_024;

/**
 * The format of `tools[]` in OpenAI's chat completions and in compatible APIs. Any JSON Schema is allowed, but the root is a plain
 * object and every array declares its items.
 */
export const openai: FunctionFormat = ({ plugin }: Described): Defined => {
  const losses = createLosses();
  const parameters = looseParameters(plugin.input_schema, losses);
  return {
    definition: { type: 'function', function: { ...openaiHead(plugin, losses), parameters } },
    losses: losses.list,
  };
};

export function openaiHead(plugin: Described['plugin'], losses: Losses) {
  const { description } = plugin;
  if (description.length > maxDescription) {
    losses.add('dropped', ['description'], `The description is cut after ${maxDescription} characters.`);
  }
  const text = description.length > maxDescription ? `${description.slice(0, maxDescription - 1)}…` : description;
  return { name: toolName(plugin.bundle_id, plugin.plugin_id), description: text };
}

/** Converts the input schema to a plain object without references and without combinators at its root. */
export function looseParameters(schema: JsonSchema, losses: Losses): JsonSchema {
  const flat = flattenRoot(inlineReferences(schema), ['input_schema'], losses);
  // These rules support every keyword, so there is always a result.
  return rewriteSchema(flat, ['input_schema'], { rules: looseRules, losses }) ?? { type: 'object', properties: {} };
}

const refusedAtRoot = new Set(['not', 'enum', 'const', 'if', 'then', 'else', 'dependentSchemas']);

const looseRules: Rules = {
  keeps: (keyword, _schema, path) => {
    if (keyword === '$schema' || keyword === '$comment' || keyword.startsWith('x-')) return false;
    return path.length > 1 || !refusedAtRoot.has(keyword);
  },
  shape: (declared) => {
    const schema = portable(declared);
    return schema.type === 'array' && schema.items === undefined ? { ...schema, items: {} } : schema;
  },
};
