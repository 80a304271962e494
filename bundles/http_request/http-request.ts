import type { Handler, OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';

interface Pair {
  readonly name: string;
  readonly value: string;
}

interface Input {
  readonly url: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: readonly Pair[];
  readonly headers?: readonly Pair[];
  readonly json?: string;
  readonly form?: readonly Pair[];
  readonly text?: string;
}

interface Output {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content_type: string | null;
  readonly kind: 'empty' | 'json' | 'text' | 'binary';
  readonly json: unknown;
  readonly text: string | null;
  readonly base64: string | null;
}

/**
 * This plugin needs code, because the host, the method and the headers are known only when it is called. The server
 * checks all of them.
 */
export const run: Handler<Input, Output> = async (input, context) => {
  const bodies = (['json', 'form', 'text'] as const).filter((name) => input[name] !== undefined);
  if (bodies.length > 1) context.reject(`a request has one body, found ${bodies.join(' and ')}`);
  if (input.json !== undefined && !isJson(input.json)) context.reject('json is not the text of JSON');
  const names = (input.headers ?? []).map(({ name }) => name.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) context.reject(`the header ${twice} occurs twice`);
  const { url, method, query = [] } = input;
  const answer = await context.fetch({ url, method, query: byName(query), binary: true, ...contentOf(input) });
  return { ...headOf(answer), ...bodyOf(answer) };
};

function byName(pairs: readonly Pair[]): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { name, value } of pairs) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

function contentOf({ headers = [], json, form, text }: Input): Pick<OutboundRequest, 'headers' | 'body'> {
  const named = Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const content = (type: string, body: string) => ({ headers: { 'content-type': type, ...named }, body });
  if (json !== undefined) return content('application/json', json);
  if (form !== undefined) {
    const fields = new URLSearchParams(form.map(({ name, value }) => [name, value]));
    return content('application/x-www-form-urlencoded', fields.toString());
  }
  return text === undefined ? { headers: named } : content('text/plain; charset=utf-8', text);
}

/** Leaves out headers about the transfer, because the response is already complete and decompressed. */
const ofTheWire = new Set([
  ...['connection', 'keep-alive', 'transfer-encoding', 'content-encoding', 'content-length', 'date', 'set-cookie'],
]);

function headOf({ status, headers }: OutboundResponse): Pick<Output, 'status' | 'headers' | 'content_type'> {
  const shown = Object.entries(headers).filter(([name]) => !ofTheWire.has(name));
  return { status, headers: Object.fromEntries(shown), content_type: headers['content-type'] ?? null };
}

function bodyOf({ headers, text, base64 }: OutboundResponse): Pick<Output, 'kind' | 'json' | 'text' | 'base64'> {
  if (base64 !== undefined) return { kind: 'binary', json: null, text: null, base64 };
  if (text === '') return { kind: 'empty', json: null, text: null, base64: null };
  if (/^[^;]*[/+]json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    // A body that is declared as JSON but is not JSON is returned as text, because the caller may recognise it.
    if (isJson(text)) return { kind: 'json', json: JSON.parse(text), text: null, base64: null };
  }
  return { kind: 'text', json: null, text, base64: null };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
