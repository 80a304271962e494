import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Value } from 'typebox/value';
import { quoteText } from '../../platform/quote-text.ts';
import { Secret } from '../../platform/secret.ts';
import type { Environment } from './environment.ts';
import type { SettingSchema, SettingTable, SettingValues } from './setting.ts';

export const prefix = 'QUARTERMASTER_';

/**
 * Reads the settings of a table, and the files that settings name for secrets. Adds an error for each invalid one to `errors`,
 * and uses its default. An empty value counts as unset.
 */
export function readSettings<Table extends SettingTable>(
  table: Table,
  environment: Environment,
  errors: string[],
): SettingValues<Table> {
  const values = Object.entries(table).map(([key, any]) => {
    const schema = any as SettingSchema; // the table is made of them
    const name = prefix + key;
    const source = schema.isSecret ? findSecret(name, environment, errors) : { name, text: environment[name] };
    const read = source.text ? parse(schema, source.text) : schema.default;
    if (Value.Check(schema, read) || read === schema.default) return [toMember(key), toValue(schema, read)];
    errors.push(describeError(schema, source.name, source.text ?? ''));
    return [toMember(key), toValue(schema, schema.default)];
  });
  return Object.fromEntries(values) as SettingValues<Table>;
}

const toMember = (key: string) => key.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the text of a setting as a value for its schema; undefined when it has another form. */
function parse(schema: SettingSchema, text: string): unknown {
  const { type } = formOf(schema);
  if (type === 'integer') return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (type === 'number') return /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
  if (type === 'array') {
    const items = text.split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  }
  if (type !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Converts what a schema has accepted to the value that the service uses. */
function toValue(schema: SettingSchema, value: unknown): unknown {
  if (value === null) return null;
  if (schema.isSecret) return new Secret(value as string);
  if (schema.isPath) return Array.isArray(value) ? value.map((path) => resolve(path)) : resolve(value as string);
  return formOf(schema).type === 'object' ? new Map(Object.entries(value as object)) : value;
}

/** The schema without null. */
export function formOf(schema: SettingSchema): Readonly<Record<string, unknown>> {
  const { anyOf: [form = schema] = [schema] } = schema as { readonly anyOf?: readonly object[] };
  return form as Readonly<Record<string, unknown>>;
}

function describeError(schema: SettingSchema, name: string, text: string): string {
  if (schema.isSecret) return `${name} must ${schema.must}.`;
  const { enum: values, minimum, maximum, type } = formOf(schema);
  const whole = type === 'integer' ? `be a whole number from ${minimum} to ${maximum}` : undefined;
  const must = Array.isArray(values) ? `be one of ${values.join(', ')}` : (schema.must ?? whole);
  const message = `${name} must ${must}; received ${quoteText(text)}.`;
  return /(?:URL|ISSUER)$/.test(name) ? withoutCredentials(message) : message;
}

/** A refused URL may contain a password or a key, and the message is logged. */
function withoutCredentials(message: string): string {
  return message.replace(/:\/\/[^\s/"@]*@/g, '://…@').replace(/\?[^\s"]*/g, '?…');
}

/** Returns a secret from its setting or from the file that the setting with `_FILE` names. */
function findSecret(
  name: string,
  environment: Environment,
  errors: string[],
): { name: string; text?: string | undefined } {
  const [text, path] = [environment[name], environment[`${name}_FILE`]];
  if (!path) return { name, text };
  const source = `${name}_FILE`;
  if (text) errors.push(`${name} and ${source} are both set. Set one of them.`);
  if (text) return { name, text };
  const content = readText(path);
  if (content === undefined) {
    const file = quoteText(resolve(path));
    errors.push(`${source}: the file ${file} cannot be read. Create it, or correct its permissions or the setting.`);
  }
  if (content === '') errors.push(`${source}: the content of the file is empty.`);
  return { name: `${source}: the content of the file`, text: content };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(resolve(path), 'utf8').trim();
  } catch {
    return undefined;
  }
}
