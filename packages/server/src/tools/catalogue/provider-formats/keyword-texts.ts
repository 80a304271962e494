import { type JsonSchema, textsIn } from './function-format.ts';

/** The meaning of keywords in words, for providers that do not support them. */
const texts: Readonly<Record<string, (value: unknown) => string>> = {
  minimum: (value) => `At least ${json(value)}.`,
  maximum: (value) => `At most ${json(value)}.`,
  exclusiveMinimum: (value) => `More than ${json(value)}.`,
  exclusiveMaximum: (value) => `Less than ${json(value)}.`,
  multipleOf: (value) => `A multiple of ${json(value)}.`,
  minLength: (value) => `At least ${count(value, 'character')}.`,
  maxLength: (value) => `At most ${count(value, 'character')}.`,
  minItems: (value) => `At least ${count(value, 'item')}.`,
  maxItems: (value) => `At most ${count(value, 'item')}.`,
  minProperties: (value) => `At least ${count(value, 'property', 'properties')}.`,
  maxProperties: (value) => `At most ${count(value, 'property', 'properties')}.`,
  uniqueItems: (value) => (value === true ? 'Items must be unique.' : ''),
  pattern: (value) => `Matches the regular expression ${String(value)}.`,
  format: (value) => `Format: ${String(value)}.`,
  const: (value) => `Always ${json(value)}.`,
  enum: (value) => `One of ${Array.isArray(value) ? value.map(json).join(', ') : json(value)}.`,
  default: (value) => `Default: ${json(value)}.`,
  examples: (value) => (Array.isArray(value) ? `For example ${value.map(json).join(' or ')}.` : ''),
  deprecated: (value) => (value === true ? 'Deprecated.' : ''),
  readOnly: (value) => (value === true ? 'Read-only.' : ''),
  writeOnly: (value) => (value === true ? 'Write-only.' : ''),
  additionalProperties: (value) => (value === false ? 'No other properties.' : ''),
};

const maxTextLength = 500;

/** A sentence, or an empty text when the keyword has no effect. */
export function textOfKeyword(keyword: string, value: unknown): string {
  const text = texts[keyword]?.(value) ?? `JSON Schema "${keyword}": ${json(value)}.`;
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text;
}

/** Appends sentences to the description of the schema. */
export function withSentences(schema: JsonSchema, sentences: readonly string[]): JsonSchema {
  const added = sentences.filter((sentence) => sentence !== '');
  if (added.length === 0) return schema;
  const own = typeof schema.description === 'string' ? [endSentence(schema.description)] : [];
  return { ...schema, description: [...own, ...added].join(' ') };
}

/** States which members the alternatives of a schema require: `a`, or `b` and `c`. */
export function textOfAlternatives(keyword: string, branches: readonly unknown[]): string {
  const names = branches.map((branch) => textsIn(Reflect.get(Object(branch), 'required')));
  if (names.some((list) => list.length === 0)) return textOfKeyword(keyword, branches);
  const groups = names.map((list) => list.map((name) => JSON.stringify(name)).join(' and '));
  return `Give ${keyword === 'oneOf' ? 'exactly' : 'at least'} one of these: ${groups.join('; or ')}.`;
}

function endSentence(text: string): string {
  return /[.!?:…。！？]\s*$/.test(text) ? text.trimEnd() : `${text.trimEnd()}.`;
}

function count(value: unknown, noun: string, plural = `${noun}s`): string {
  return `${json(value)} ${value === 1 ? noun : plural}`;
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
