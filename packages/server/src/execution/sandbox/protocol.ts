import type { OutboundRequest, OutboundResponse } from '@quartermaster/plugin-kit';

/**
 * What host and child say to each other over file descriptor 3: one JSON object a line, UTF-8. The host believes
 * nothing a child says: it measures the line before parsing it, checks its shape, and drops what names another run.
 */
export type ToChild =
  | {
      readonly type: 'run';
      readonly run: string;
      /** A `file:` URL inside the bundle's folder. */
      readonly handler: string;
      readonly input: Record<string, unknown>;
      readonly maxOutputBytes: number;
      readonly maxRequests: number;
    }
  | { readonly type: 'answer'; readonly run: string; readonly call: number; readonly response: OutboundResponse }
  | { readonly type: 'refusal'; readonly run: string; readonly call: number; readonly error: CallError }
  | { readonly type: 'cancel'; readonly run: string };

export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'returned'; readonly run: string; readonly output: unknown }
  | { readonly type: 'failed' | 'rejected'; readonly run: string; readonly message: string }
  | { readonly type: 'fetch'; readonly run: string; readonly call: number; readonly request: OutboundRequest }
  | { readonly type: 'log'; readonly run: string; readonly message: string; readonly fields?: Record<string, unknown> }
  | { readonly type: 'progress'; readonly run: string; readonly fraction: number; readonly message?: string };

export interface CallError {
  readonly code: string;
  readonly message: string;
}

/** The child keeps to these so that an honest handler never meets the host's harder ones. */
export const bounds = {
  requestBytes: 1024 * 1024,
  concurrentRequests: 6,
  logLines: 200,
  logBytes: 64 * 1024,
  logLineBytes: 4 * 1024,
  progressReports: 200,
  messageCharacters: 2_000,
  /** Of an output: what is deeper breaks recursive validators. */
  depth: 128,
} as const;

/** Undefined when the line is not a message of a child. `__proto__` and too deep nesting make it none. */
export function readFromChild(line: string): FromChild | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  // Each guard has checked the members that its type names.
  return isFromChild(value) ? (value as unknown as FromChild) : undefined;
}

function isFromChild(value: Record<string, unknown>): boolean {
  if (value.type === 'ready') return true;
  if (typeof value.run !== 'string') return false;
  switch (value.type) {
    case 'returned':
      return 'output' in value;
    case 'failed':
    case 'rejected':
      return typeof value.message === 'string';
    case 'fetch':
      return Number.isSafeInteger(value.call) && isRequest(value.request);
    case 'log':
      return typeof value.message === 'string' && isRecord(value.fields ?? {}) && faultOf(value.fields) === undefined;
    case 'progress':
      return isFraction(value.fraction) && typeof (value.message ?? '') === 'string';
    default:
      return false;
  }
}

const methods = new Set<unknown>([undefined, 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);

function isRequest(value: unknown): boolean {
  if (!isRecord(value) || typeof value.url !== 'string' || !methods.has(value.method)) return false;
  const { headers, query } = value;
  if (headers !== undefined && !(isRecord(headers) && Object.values(headers).every((it) => typeof it === 'string'))) {
    return false;
  }
  if (query !== undefined && !(isRecord(query) && Object.values(query).every(isQueryValue))) return false;
  return faultOf(value) === undefined;
}

function isQueryValue(value: unknown): boolean {
  const isTextOrNumber = (it: unknown): boolean => typeof it === 'string' || typeof it === 'number';
  return isTextOrNumber(value) || typeof value === 'boolean' || (Array.isArray(value) && value.every(isTextOrNumber));
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Why a parsed value must not go further into the server; undefined when it may. */
export function faultOf(value: unknown, depth: number = bounds.depth): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === 0) return `it nests deeper than ${bounds.depth} levels`;
  if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) return 'it has a member named "__proto__"';
  for (const member of Object.values(value)) {
    const fault = faultOf(member, depth - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Splits a stream into lines. A line longer than `maxBytes()` ends the reading with one call of `onTooLong`. */
export function createLineReader(reader: {
  readonly onLine: (line: string) => void;
  readonly onTooLong: () => void;
  readonly maxBytes: () => number;
}): (chunk: Buffer) => void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let ended = false;
  return (chunk) => {
    let start = 0;
    while (!ended) {
      const found = chunk.indexOf(0x0a, start);
      const end = found < 0 ? chunk.length : found;
      if (heldBytes + end - start > reader.maxBytes()) {
        ended = true;
        held = [];
        return reader.onTooLong();
      }
      if (found < 0) break;
      const tail = chunk.subarray(start, end);
      start = end + 1;
      const line = heldBytes === 0 ? tail : Buffer.concat([...held, tail]);
      held = [];
      heldBytes = 0;
      reader.onLine(line.toString('utf8'));
    }
    if (ended || start >= chunk.length) return;
    held.push(chunk.subarray(start));
    heldBytes += chunk.length - start;
  };
}
