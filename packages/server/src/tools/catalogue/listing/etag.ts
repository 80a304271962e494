import { createHash } from 'node:crypto';

/** Computes the strong ETag of a body. */
export function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`;
}

/** Whether an `If-None-Match` header contains the tag. Uses weak comparison (RFC 9110 §13.1.2). */
export function matchesETag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
