import { createHmac, hkdfSync } from 'node:crypto';

/**
 * Computes hashes of a text, one for each key, the current key first: 128 bits in hexadecimal. Without the keys nobody can compute
 * them or test a guess.
 */
export type KeyedHashes = (text: string) => readonly string[];

/** HMAC-SHA-256 with a key that HKDF derives from the given bytes. */
export function keyedHash(bytes: Buffer, text: string): string {
  const key = hkdfSync('sha256', bytes, '', 'quartermaster mac', 32);
  return createHmac('sha256', Buffer.from(key)).update(text).digest('hex').slice(0, 32);
}
