import type { Random } from '../support/random.ts';
import { generateText, generateValue, type KnownIds } from './generate-value.ts';
import type { ApiOperation } from './operations.ts';

export interface Sent {
  readonly status: number;
  readonly text: string;
  readonly isJson: boolean;
  /** The texts of the request. An error may repeat them. */
  readonly asked: string;
}

export interface Sending {
  readonly filesUrl: string;
  readonly pluginsUrl: string;
  readonly key: string | undefined;
  readonly random: Random;
  readonly ids: KnownIds;
}

/** Milliseconds to wait for a response. An event stream counts as answered when it begins. */
const timeoutMs = 20_000;

/** Sends one generated request. Returns `undefined` when no response arrived in time. */
export async function sendOperation(operation: ApiOperation, sending: Sending): Promise<Sent | undefined> {
  const { random, ids, key } = sending;
  const base = operation.address === 'files' ? sending.filesUrl : sending.pluginsUrl;
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    name === '*' ? 'v1/plugins' : encodeURIComponent(wellFormed(generateText({}, random, ids, name)) || 'x'),
  );
  const query = new URLSearchParams();
  const headers: Record<string, string> = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  for (const { name, in: place, schema } of operation.parameters) {
    if (place === 'path' || random.chance(0.5)) continue;
    const value = textOf(generateValue(schema, random, ids, name));
    if (place === 'query') query.append(name, value);
    else headers[name] = value.replace(/[^\x20-\x7e]/g, '?');
  }
  if (random.chance(0.1)) headers['Idempotency-Key'] = `key-${random.below(20)}`;
  const body = bodyOf(operation, sending, headers);
  const texts = [decodeURIComponent(path), ...query.values(), ...Object.values(headers)];
  const asked = [...texts, typeof body === 'string' ? body : ''].join('\n');
  const abort = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(`${base}${path}?${query}`, {
      method: operation.method,
      headers,
      body: body ?? null,
      signal: abort,
    });
    const type = answer.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) {
      await answer.body?.cancel();
      return { status: answer.status, text: '', isJson: true, asked };
    }
    return { status: answer.status, text: await answer.text(), isJson: type.includes('json'), asked };
  } catch {
    return undefined;
  }
}

function bodyOf(
  operation: ApiOperation,
  { random, ids }: Sending,
  headers: Record<string, string>,
): string | FormData | undefined {
  const [type, schema] = random.pick(Object.entries(operation.bodies)) ?? [];
  if (type === undefined || schema === undefined || operation.method === 'GET') return undefined;
  const value = generateValue(schema, random, ids);
  if (type.startsWith('multipart/')) {
    const form = new FormData();
    const members = typeof value === 'object' && value !== null ? value : {};
    const content = `text ${random.below(50)} `.repeat(1 + random.below(40));
    const extension = random.pick(['txt', 'txt', 'md', 'html', 'csv', 'pdf', 'exe', '']) ?? 'txt';
    for (const [name, member] of Object.entries(members)) {
      if (name === 'file') form.append('file', new Blob([content]), `fuzz-${random.below(99)}.${extension}`);
      else form.append(wellFormed(name), textOf(member));
    }
    return form;
  }
  headers['Content-Type'] = random.chance(0.03) ? 'text/plain' : type;
  const text = JSON.stringify(value) ?? '';
  return random.chance(0.02) ? text.slice(0, random.below(text.length + 1)) : text;
}

function textOf(value: unknown): string {
  return wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

function wellFormed(text: string): string {
  return text.toWellFormed();
}
