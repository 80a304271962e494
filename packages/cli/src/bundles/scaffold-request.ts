import { freeName, humanised, snakeCase } from '@quartermaster/importers/names';
import { stringify } from 'yaml';

/** The files of a bundle with one declarative plugin for a call. The call's query becomes the first example. */
export function requestFiles(id: string, url: string): Readonly<Record<string, string>> {
  const call = URL.parse(url);
  if (call === null || !/^https?:$/.test(call.protocol) || call.username !== '' || call.password !== '') {
    throw new Error(`--url must be an http or https URL without a user; received ${JSON.stringify(url)}.`);
  }
  const last = call.pathname.split('/').findLast((segment) => /[a-z]/i.test(segment));
  const pluginId = freeName(snakeCase(last ?? 'call'), (name) => name === 'bundle');
  return {
    'bundle.yaml': toYaml({
      id,
      version: '0.1.0',
      name: humanised(id),
      description: 'Say what the plugins of this bundle are for.',
      provider: call.hostname,
      developer: 'Say who you are.',
      hosts: [call.host],
    }),
    [`${pluginId}.yaml`]: toYaml(pluginOf(pluginId, call)),
  };
}

function pluginOf(id: string, call: URL): object {
  const byName = new Map(
    [...call.searchParams].map(([name, text]) => [propertyOf(name), { name, value: readValue(text) }]),
  );
  const properties = [...byName].map(([property, { value }]) => {
    return [
      property,
      { type: Number.isInteger(value) ? 'integer' : typeof value, description: `Say what ${property} is.` },
    ];
  });
  return {
    id,
    name: humanised(id),
    description: 'Say what it does: models choose a plugin by these words.',
    effects: 'read',
    idempotent: true,
    input_schema: {
      type: 'object',
      additionalProperties: false,
      required: [...byName.keys()],
      properties: Object.fromEntries(properties),
    },
    output_schema: {
      type: 'object',
      required: ['result'],
      properties: { result: { description: 'Say what comes out; take what you need of it in "response".' } },
    },
    request: {
      method: 'GET',
      url: `${call.origin}${call.pathname}`,
      ...(byName.size === 0
        ? {}
        : { query: Object.fromEntries([...byName].map(([property, { name }]) => [name, `{${property}}`])) }),
    },
    response: { output: '{result: body}' },
    examples: [{ input: Object.fromEntries([...byName].map(([property, { value }]) => [property, value])) }],
  };
}

/** Names of inputs allow fewer characters than query names. */
function propertyOf(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? name : snakeCase(name);
}

/** Reads a number only in its JSON form; `007` is a text. */
function readValue(text: string): string | number {
  return /^-?(0|[1-9]\d{0,14})(\.\d{0,14}[1-9])?$/.test(text) ? Number(text) : text;
}

function toYaml(value: object): string {
  return stringify(value, { lineWidth: 120 });
}
