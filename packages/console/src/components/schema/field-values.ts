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
