import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * A key consists of `qmk_`, 30 random characters (178 bits) and a checksum of 6 characters, all base62. Scanners can
 * recognise it, and a typing error is detected without a look-up. `/qmk_[0-9A-Za-z]{36}/` matches every key.
 */
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'qmk_';
const randomLength = 30;
const checksumLength = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Returns a new key in clear text. It is shown once and not stored. */
export function createApiKey(): string {
  let body = prefix;
  for (let i = 0; i < randomLength; i++) body += alphabet[randomInt(alphabet.length)];
  return body + checksum(body);
}

/** Returns whether the text has the form of a key: prefix, alphabet, length and checksum. */
export function looksLikeApiKey(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -checksumLength)));
}

/**
 * Returns the stored hash: SHA-256 in hexadecimal. A key has 178 random bits, so neither salt nor stretching is needed.
 */
export function hashApiKey(key: string): string {
  return hash('sha256', key);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
