import { createHmac, hkdfSync } from 'node:crypto';

/**
 * Hashes of a text, one for each key, the current key first: 128 bits in hexadecimal. They cannot be computed without the keys or
 * test a guess against them.
 */
export type KeyedHashes = (text: string) => readonly string[];

/** HMAC-SHA-256 under a key that HKDF derives from the given bytes. */
export function keyedHash(bytes: Buffer, text: string): string {
  const key = hkdfSync('sha256', bytes, '', 'quartermaster mac', 32);
  return createHmac('sha256', Buffer.from(key)).update(text).digest('hex').slice(0, 32);
}
