import { maxOptions, type OptionKind, type PropertyOptions } from '@quartermaster/contract';
import type { FoundOptions } from '../executor.ts';

/** @param search only values whose label or value contains it, in any letter case */
export function presentOptions(kind: OptionKind, found: FoundOptions, search = ''): PropertyOptions {
  if ('schema' in found) return answerOf(kind, { schema: found.schema });
  const wanted = search.trim().toLowerCase();
  const options = found.options.filter(({ label, value }) => `${label}\n${value}`.toLowerCase().includes(wanted));
  return answerOf(kind, {
    options: options.slice(0, maxOptions),
    has_more: options.length > maxOptions,
    hint: found.placeholder === '' ? null : found.placeholder,
  });
}

/** The values that the schema of an input lists itself; undefined for one that lists none. */
export function readListedOptions(inputSchema: object, property: string): PropertyOptions | undefined {
  const { properties = {} } = inputSchema as { properties?: Readonly<Record<string, unknown>> }; // JSON Schema, checked
  const { enum: values } = Object(Object.hasOwn(properties, property) ? properties[property] : undefined);
  if (!Array.isArray(values)) return undefined;
  const options = values.map((value) => ({ label: typeof value === 'string' ? value : JSON.stringify(value), value }));
  return presentOptions('one', { options, placeholder: '' });
}

function answerOf(kind: OptionKind, members: Partial<PropertyOptions>): PropertyOptions {
  return { object: 'PropertyOptions', kind, options: [], has_more: false, hint: null, schema: null, ...members };
}
