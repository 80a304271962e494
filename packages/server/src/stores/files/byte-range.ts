import type { ByteRange } from './blob-store.ts';

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' };

const whole: RangeAnswer = { kind: 'whole' };

/**
 * Evaluates a Range header for content of `size` bytes. Other units, several ranges and malformed ranges are ignored,
 * as RFC 9110 §14.2 allows. The response is then the whole content.
 */
export function readRange(header: string | undefined, size: number): RangeAnswer {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '');
  if (match === null) return whole;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return whole;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? { kind: 'unsatisfiable' } : part(size - length, size - 1);
  }
  if (to !== '' && Number(to) < Number(from)) return whole;
  if (Number(from) >= size) return { kind: 'unsatisfiable' };
  return part(Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1));
}

function part(start: number, end: number): RangeAnswer {
  return { kind: 'part', range: { start, end } };
}

/** Returns whether an If-None-Match header matches the tag (weakly, RFC 9110 §13.1.2). */
export function matchesAny(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Returns whether an If-Range header allows a range. It must name exactly this tag. */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || header.trim() === etag;
}
