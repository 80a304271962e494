import { flattenRoot } from './flatten-root.ts';
import { createLosses, type FunctionFormat, type JsonSchema, type Losses } from './function-format.ts';
import { inlineReferences } from './inline-references.ts';
import { portable } from './portable-schema.ts';
import { type Rules, rewriteSchema } from './rewrite-schema.ts';
import { toolName } from './tool-name.ts';

/** The format of `tools[]` in Anthropic's messages: JSON Schema 2020-12 whose root is a plain object. */
export const anthropic: FunctionFormat = ({ plugin }) => {
  const losses = createLosses();
  return {
    definition: {
      name: toolName(plugin.bundle_id, plugin.plugin_id),
      description: plugin.description,
      input_schema: plainRoot(plugin.input_schema, ['input_schema'], losses),
    },
    losses: losses.list,
  };
};

/** Removes references, extensions, lists of types and combinators at the root. The rest of the schema stays unchanged. */
export function plainRoot(schema: JsonSchema, at: readonly string[], losses: Losses): JsonSchema {
  const flat = flattenRoot(inlineReferences(schema), at, losses);
  return rewriteSchema(flat, at, { rules: plainRules, losses }) ?? flat;
}

const plainRules: Rules = {
  keeps: (keyword) => keyword !== '$schema' && keyword !== '$comment' && !keyword.startsWith('x-'),
  shape: portable,
};
