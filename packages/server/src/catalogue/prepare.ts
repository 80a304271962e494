import { createHash } from 'node:crypto';
import type { Prepared } from './catalogue.ts';

/** Serialises once; the ETag is strong because equal tags mean equal bytes. */
export function prepareJson(value: unknown): Prepared {
  return prepareBytes(Buffer.from(JSON.stringify(value)));
}

export function prepareBytes(body: Buffer): Prepared {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

/** Whether an `If-None-Match` header names a tag (RFC 9110 §13.1.2: compared without the weakness mark). */
export function matchesETag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
