import type { OptionKind } from '@quartermaster/contract';
import { type JsonSchema, kindsOf, resolve, variantsOf } from './json-schema.ts';

/** A value that a schema allows, and what to call it. */
export interface Choice {
  readonly value: unknown;
  readonly label: string;
}

/** The values of a schema that lists all of them: in `enum`, or one in each variant. undefined: it does not list them. */
export function choicesOf(schema: JsonSchema, root: JsonSchema): readonly Choice[] | undefined {
  if (schema.enum !== undefined) return schema.enum.map((value) => ({ value, label: nameOf(value) }));
  const variants = variantsOf(schema).map((variant) => resolve(variant, root));
  if (variants.length === 0 || !variants.every((variant) => 'const' in variant)) return undefined;
  return variants.map(({ const: value, title }) => ({ value, label: title ?? nameOf(value) }));
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** The maximum number of fields that a form shows before the user asks for more; it always shows required ones. */
const maxFirst = 6;

/** The names of the fields of an object: required ones first, and the optional ones of a long form apart. */
export function orderFields({ properties = {}, required = [] }: JsonSchema) {
  const names = Object.keys(properties);
  const must = names.filter((name) => required.includes(name));
  const may = names.filter((name) => !required.includes(name));
  const room = names.length <= maxFirst ? names.length : Math.max(0, maxFirst - 1 - must.length);
  return { first: [...must, ...may.slice(0, room)], more: may.slice(room) };
}

/** The text of a native field for local time; empty when the value is not a time. @param time RFC 3339 */
export function toLocalTime(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The time in RFC 3339; undefined for an incomplete field. @param text of a native field for local time */
export function fromLocalTime(text: string): string | undefined {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace('.000', '');
}

/** Whether a schema describes file content, which a stored file can replace. */
export function isFile(schema: JsonSchema): boolean {
  return kindsOf(schema)[0] === 'string' && schema.contentEncoding === 'base64';
}

interface FoundOptions {
  readonly kind: OptionKind;
  readonly options: readonly Choice[];
  /** The members of the input, when the third party determines them. */
  readonly schema: JsonSchema | null;
  /** The present value, which stays possible. */
  readonly value: unknown;
}

/** The schema of an input with the values that the third party has. Without values it takes text. */
export function withOptions(schema: JsonSchema, { kind, options, schema: members, value }: FoundOptions): JsonSchema {
  const { title, description } = schema;
  const words = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  if (kind === 'properties') return members === null ? schema : { ...members, ...words };
  const isMany = kind === 'many';
  if (options.length === 0) {
    const type = schema.type ?? 'string';
    return isMany ? { ...words, type: 'array', items: { type: 'string' } } : { ...schema, type };
  }
  const known = new Set(options.map((one) => JSON.stringify(one.value)));
  const present = (isMany ? (Array.isArray(value) ? value : []) : [value]).filter((one) => one !== undefined);
  const others = present
    .filter((one) => !known.has(JSON.stringify(one)))
    .map((one) => ({ value: one, label: nameOf(one) }));
  const oneOf = [...options, ...others].map(({ value: one, label }) => ({ const: one, title: label }));
  return isMany ? { ...words, type: 'array', items: { oneOf } } : { ...words, oneOf };
}
