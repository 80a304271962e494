import { isJsonObject } from '../../../platform/json/json-object.ts';
import {
  createLosses,
  type FunctionFormat,
  type JsonSchema,
  type Losses,
  membersOf,
  textsIn,
  typesOf,
} from './function-format.ts';
import { inlineReferences } from './inline-references.ts';
import { textOfKeyword, withSentences } from './keyword-texts.ts';

/**
 * The plugin record of TaskingAI's plugin server, which its clients read unchanged. Parameters are flat maps with a name, a
 * description, a required flag and a type from a short list.
 */
export const taskingai: FunctionFormat = ({ plugin }) => {
  const losses = createLosses();
  return {
    definition: {
      object: 'Plugin',
      bundle_id: plugin.bundle_id,
      plugin_id: plugin.plugin_id,
      name: plugin.name,
      description: plugin.description,
      input_schema: flatMap(plugin.input_schema, ['input_schema'], losses),
      output_schema: flatMap(plugin.output_schema, ['output_schema'], losses),
    },
    losses: losses.list,
  };
};

function flatMap(schema: JsonSchema, at: readonly string[], losses: Losses): Record<string, unknown> {
  const inlined = inlineReferences(schema);
  for (const keyword of Object.keys(inlined)) {
    if (rootKeywords.has(keyword)) continue;
    losses.add(
      'dropped',
      [...at, keyword],
      `A flat map of parameters does not support "${keyword}", so it is left out.`,
    );
  }
  const required = new Set(textsIn(inlined.required));
  const flat: Record<string, unknown> = {};
  for (const [name, property] of membersOf(inlined.properties)) {
    const path = [...at, 'properties', name];
    const parameter = flatParameter({ name, property, required: required.has(name) }, path, losses);
    if (parameter !== undefined) flat[name] = parameter;
  }
  return flat;
}

const rootKeywords = new Set(['type', 'properties', 'required', 'additionalProperties', 'title', 'description']);

interface Parameter {
  readonly name: string;
  readonly property: unknown;
  readonly required: boolean;
}

function flatParameter({ name, property, required }: Parameter, path: readonly string[], losses: Losses): unknown {
  const schema = isJsonObject(property) ? property : {};
  const found = flatType(schema);
  if (found === undefined && !required && path[0] === 'input_schema') {
    losses.add(
      'dropped',
      path,
      'A flat map of parameters does not support its type. It is optional, so it is left out.',
    );
    return undefined;
  }
  if (found === undefined) {
    const isInput = path[0] === 'input_schema';
    const message = isInput ? 'clients of this format cannot run the plugin' : 'the value is still an object or a list';
    losses.add(
      isInput ? 'unsupported' : 'rewritten',
      path,
      `A flat map of parameters does not support its type, so "string" is stated; ${message}.`,
    );
  }
  const sentences = Object.entries(schema).flatMap(([keyword, value]) => moved({ keyword, value }, path, losses));
  const { description } = withSentences(schema, sentences);
  return {
    type: found ?? 'string',
    name: typeof schema.title === 'string' ? schema.title : name,
    description: typeof description === 'string' ? description : '',
    required,
  };
}

const scalars = new Set(['string', 'integer', 'number', 'boolean']);

/** The type in TaskingAI's list; undefined when there is none. */
function flatType(schema: JsonSchema): string | undefined {
  const types = (typesOf(schema) ?? typesOfValues(schema)).filter((type) => type !== 'null');
  const [type] = types;
  if (types.length !== 1 || type === undefined) return undefined;
  if (scalars.has(type)) return type;
  const items = isJsonObject(schema.items) ? typesOf(schema.items) : undefined;
  const [item] = items ?? [];
  return type === 'array' && items?.length === 1 && item !== undefined && scalars.has(item)
    ? `${item}_array`
    : undefined;
}

function typesOfValues(schema: JsonSchema): string[] {
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
}

const expressed = new Set(['type', 'title', 'description', '$schema', '$comment']);

function moved(
  { keyword, value }: { keyword: string; value: unknown },
  path: readonly string[],
  losses: Losses,
): string[] {
  if (expressed.has(keyword)) return [];
  if (keyword === 'items' && isJsonObject(value)) {
    const inner = Object.entries(value).filter(([name]) => name !== 'type' && name !== 'title');
    return inner.flatMap(([name, one]) =>
      name === 'description' ? [String(one)] : moved({ keyword: name, value: one }, [...path, 'items'], losses),
    );
  }
  losses.add(
    'described',
    [...path, keyword],
    `A flat map of parameters does not support "${keyword}", so the description states it.`,
  );
  return [textOfKeyword(keyword, value)];
}
