import { isJsonObject } from '../../../platform/json/json-object.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { bounds, type FromChild } from './protocol.ts';

/** Parses a message of a child. Undefined when the text is not a message, has a member `__proto__` or is nested too deeply. */
export function readFromChild(text: string): FromChild | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  // The guards above have checked every member that the type names.
  return isFromChild(value) ? (value as unknown as FromChild) : undefined;
}

const longestHead = 256;
const largeHead = /^\{"type":"returned","run":"([A-Za-z0-9_-]{1,64})","ms":(\d{1,10}(?:\.\d{1,20})?),"output":/;

/** Finds the output in a frame that is too long to be parsed here. Undefined unless the child wrote it as `child.ts` does. */
export function readLargeFromChild(frame: Buffer): FromChild | undefined {
  const [head, run, ms] = largeHead.exec(frame.toString('latin1', 0, longestHead)) ?? [];
  if (head === undefined || run === undefined || frame.at(-1) !== 0x7d) return undefined;
  // A copy, because the frame shares memory with the next ones.
  const json = Buffer.from(frame.subarray(head.length, -1));
  return { type: 'returned_large', run, ms: Number(ms), json };
}

function isFromChild(value: Record<string, unknown>): boolean {
  if (value.type === 'pending_dropped') return true;
  if (typeof value.run !== 'string') return false;
  switch (value.type) {
    case 'returned':
      return isDuration(value.ms) && 'output' in value;
    case 'failed':
    case 'rejected':
      return (
        isDuration(value.ms) && typeof value.message === 'string' && typeof (value.hasReturned ?? true) === 'boolean'
      );
    case 'fetch':
      return Number.isSafeInteger(value.call) && isRequest(value.request);
    case 'log':
      return (
        typeof value.message === 'string' && isJsonObject(value.fields ?? {}) && faultOf(value.fields) === undefined
      );
    case 'progress':
      return isFraction(value.fraction) && typeof (value.message ?? '') === 'string';
    default:
      return false;
  }
}

const methods = new Set<unknown>([undefined, 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);

function isRequest(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.url !== 'string' || !methods.has(value.method)) return false;
  const { headers, query, binary, base64 } = value;
  if (base64 !== undefined && typeof base64 !== 'string') return false;
  if (binary !== undefined && typeof binary !== 'boolean') return false;
  if (
    headers !== undefined &&
    !(isJsonObject(headers) && Object.values(headers).every((it) => typeof it === 'string'))
  ) {
    return false;
  }
  if (query !== undefined && !(isJsonObject(query) && Object.values(query).every(isQueryValue))) return false;
  return faultOf(value) === undefined;
}

function isQueryValue(value: unknown): boolean {
  const isTextOrNumber = (it: unknown): boolean => typeof it === 'string' || typeof it === 'number';
  return isTextOrNumber(value) || typeof value === 'boolean' || (Array.isArray(value) && value.every(isTextOrNumber));
}

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0;
}

function isFraction(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

/** Why a parsed value must be rejected; undefined when it is acceptable. */
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
