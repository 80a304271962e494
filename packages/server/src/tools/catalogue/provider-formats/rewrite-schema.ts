import { isJsonObject } from '../../../platform/json/json-object.ts';
import { childrenOf } from '../schema/subschemas.ts';
import { type JsonSchema, type Losses, membersOf, textsIn } from './function-format.ts';
import { textOfKeyword, withSentences } from './keyword-texts.ts';

/** The part of JSON Schema that a provider supports. */
export interface Rules {
  /** Whether the provider supports a keyword with its value in this schema. */
  keeps(keyword: string, schema: JsonSchema, path: readonly string[]): boolean;
  /**
   * Converts a schema to supported keywords before unsupported ones are moved to the description. Undefined when that is
   * impossible.
   */
  shape(schema: JsonSchema | boolean, path: readonly string[], losses: Losses): JsonSchema | undefined;
  /** Finishes an object whose members are all rewritten. */
  finish?(schema: JsonSchema, path: readonly string[], losses: Losses): JsonSchema | undefined;
}

/** Keywords without information about the value. They are removed without a loss. */
const silent = new Set(['$schema', '$comment']);

/**
 * Rewrites a schema for a provider. Unsupported keywords move to the description and are listed as losses. A part that cannot be
 * represented is left out where it is optional; otherwise the result is undefined.
 */
export function rewriteSchema(
  schema: unknown,
  at: readonly string[],
  { rules, losses }: { rules: Rules; losses: Losses },
): JsonSchema | undefined {
  const context = { rules, losses };
  const shaped = isJsonObject(schema) || typeof schema === 'boolean' ? rules.shape(schema, at, losses) : undefined;
  if (shaped === undefined) return undefined;
  const sentences: string[] = [];
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(shaped)) {
    if (rules.keeps(keyword, shaped, at)) result[keyword] = value;
    else if (!silent.has(keyword)) sentences.push(move(keyword, value, { at, losses }));
  }
  const rewritten = rewriteChildren(withSentences(result, sentences), at, context);
  if (rewritten === undefined) return undefined;
  return rules.finish === undefined ? rewritten : rules.finish(rewritten, at, losses);
}

function move(keyword: string, value: unknown, { at, losses }: { at: readonly string[]; losses: Losses }): string {
  if (keyword === 'title' || keyword.startsWith('x-')) {
    losses.add('dropped', [...at, keyword], `This format does not support "${keyword}", so it is left out.`);
    return '';
  }
  const text = textOfKeyword(keyword, value);
  losses.add('described', [...at, keyword], `This format does not support "${keyword}", so the description states it.`);
  return text;
}

type Context = { readonly rules: Rules; readonly losses: Losses };

function rewriteChildren(schema: JsonSchema, at: readonly string[], context: Context): JsonSchema | undefined {
  const copy: Record<string, unknown> = { ...schema };
  for (const keyword of new Set(childrenOf(schema).map(({ steps }) => steps[0] ?? ''))) {
    const value = schema[keyword];
    const rewritten = rewriteKeyword({ keyword, value, schema }, at, context);
    if (rewritten === undefined) return undefined;
    copy[keyword] = rewritten;
    if (keyword === 'properties' && isJsonObject(rewritten)) {
      const names = textsIn(schema.required).filter((name) => name in rewritten || !isNamed(value, name));
      if (schema.required !== undefined) copy.required = names;
    }
  }
  return copy;
}

function isNamed(properties: unknown, name: string): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

interface Keyword {
  readonly keyword: string;
  readonly value: unknown;
  readonly schema: JsonSchema;
}

function rewriteKeyword({ keyword, value, schema }: Keyword, at: readonly string[], context: Context): unknown {
  if (keyword === 'properties') return rewriteProperties(schema, at, context);
  if (Array.isArray(value)) return rewriteList(value, [...at, keyword], context);
  const isMap = ['$defs', 'definitions', 'patternProperties', 'dependentSchemas'].includes(keyword);
  if (!isMap) return mayBeBoolean(keyword, value) ? value : rewriteSchema(value, [...at, keyword], context);
  const entries = membersOf(value).map(
    ([name, child]) => [name, rewriteSchema(child, [...at, keyword, name], context)] as const,
  );
  return entries.some(([, child]) => child === undefined) ? undefined : Object.fromEntries(entries);
}

/** Whether a client understands `true` and `false` as the schema of this keyword. */
function mayBeBoolean(keyword: string, value: unknown): boolean {
  return typeof value === 'boolean' && (keyword === 'additionalProperties' || keyword.startsWith('unevaluated'));
}

function rewriteProperties(schema: JsonSchema, at: readonly string[], context: Context): unknown {
  const required = new Set(textsIn(schema.required));
  const result: Record<string, unknown> = {};
  for (const [name, child] of membersOf(schema.properties)) {
    const path = [...at, 'properties', name];
    const rewritten = rewriteSchema(child, path, context);
    if (rewritten !== undefined) result[name] = rewritten;
    else if (required.has(name)) return undefined;
    else
      context.losses.add('dropped', path, 'This format cannot express its schema. It is optional, so it is left out.');
  }
  return result;
}

/** Rewrites alternatives. Unsupported ones are left out while at least one remains; an `allOf` needs all its parts. */
function rewriteList(list: readonly unknown[], at: readonly string[], context: Context): unknown {
  const rewritten = list.map((child, index) => rewriteSchema(child, [...at, String(index)], context));
  const children = rewritten.filter((child) => child !== undefined);
  if (children.length === list.length) return children;
  const isChoice = at.at(-1) === 'anyOf' || at.at(-1) === 'oneOf';
  if (!isChoice || children.length === 0) return undefined;
  for (const [index, child] of rewritten.entries()) {
    if (child !== undefined) continue;
    context.losses.add(
      'dropped',
      [...at, String(index)],
      'This format cannot express the alternative, so it is left out.',
    );
  }
  return children;
}
