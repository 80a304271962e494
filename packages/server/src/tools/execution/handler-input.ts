import { convertBigInts } from '../../platform/json/exact-json.ts';
import type { JsonSchema } from '../catalogue/schema/compile-schema.ts';

/**
 * Returns the input as a handler receives it. JavaScript would round an integer beyond 2^53, and the rounded number may be the id of another
 * object, so it becomes text. Where the schema says `number`, it stays a double, because the handler calculates with it.
 */
export function toHandlerInput<T>(input: T, schema: () => JsonSchema = () => ({})): T {
  if (convertBigInts(input, String) === input) return input;
  return convert(input, schema()) as T; // an object before, too
}

function convert(value: unknown, schema: unknown): unknown {
  const { type, properties, items } = isObject(schema) ? schema : {};
  if (typeof value === 'bigint') return [type].flat().includes('number') ? Number(value) : String(value);
  if (Array.isArray(value)) return value.map((item) => convert(item, items));
  if (!isObject(value)) return value;
  const members = isObject(properties) ? properties : {};
  const schemaOf = (name: string) => (Object.hasOwn(members, name) ? members[name] : undefined);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member, schemaOf(name))]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
