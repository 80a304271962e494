import { createHash } from 'node:crypto';

/** The strong ETag of some bytes. */
export function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`;
}

/** Whether an `If-None-Match` header names a tag (RFC 9110 §13.1.2: compared without the weakness mark). */
export function matchesETag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
