import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { keyedHash } from '../../platform/keyed-hash.ts';
import { Secret } from '../../platform/secret.ts';

/** An encryption key of 32 bytes. Its id identifies the key and reveals nothing about it. */
export interface EncryptionKey {
  readonly id: string;
  readonly bytes: Secret;
}

/** The place that an encrypted text is bound to. It cannot be decrypted for another place. */
export type EncryptionContext = readonly string[];

export interface EncryptedText {
  readonly text: string;
  readonly keyId: string;
}

/** Encrypts texts with the first of its keys, and decrypts texts of all its keys. */
export interface Encrypter {
  readonly currentKeyId: string;
  /** The ids of all keys, the current one first. */
  readonly keyIds: readonly string[];
  knows(keyId: string): boolean;
  encrypt(plain: string, place: EncryptionContext): EncryptedText;
  /** @returns null when the text was encrypted with another key, for another context, or was changed */
  decrypt(encrypted: string, place: EncryptionContext): string | null;
  /** Returns keyed hashes with each of its keys, the current one first. */
  hashes(text: string): readonly string[];
}

const version = 'v1';
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Returns a new key in the form used in settings. */
export function createEncryptionKey(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * @param text base64 or base64url of 32 bytes
 * @returns null for other texts
 */
export function readEncryptionKey(text: string): EncryptionKey | null {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  const id = createHash('sha256').update('quartermaster sealing key\n').update(bytes).digest('hex').slice(0, 12);
  return { id, bytes: new Secret(bytes.toString('base64')) };
}

/**
 * AES-256-GCM with a random nonce of 96 bits per text, safe for four billion texts per key. An encrypted text is
 * `v1.<key id>.<nonce>.<ciphertext and tag>`. Its key id and its context are authenticated with it.
 */
export function createEncrypter(current: EncryptionKey, others: readonly EncryptionKey[] = []): Encrypter {
  const keys = new Map([...others, current].map((key) => [key.id, key.bytes]));

  function keyBytes(keyId: string): Buffer | undefined {
    const secret = keys.get(keyId);
    return secret === undefined ? undefined : Buffer.from(secret.reveal(), 'base64');
  }

  return {
    currentKeyId: current.id,
    keyIds: [current, ...others].map(({ id }) => id),
    knows: (keyId) => keys.has(keyId),
    hashes: (text) => [current, ...others].map(({ bytes }) => keyedHash(Buffer.from(bytes.reveal(), 'base64'), text)),
    encrypt(plain, place) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, Buffer.from(current.bytes.reveal(), 'base64'), nonce);
      cipher.setAAD(boundTo(current.id, place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      const text = [version, current.id, nonce.toString('base64url'), body.toString('base64url')].join('.');
      return { text, keyId: current.id };
    },
    decrypt(encrypted, place) {
      const [found, keyId = '', nonce = '', body = '', ...more] = encrypted.split('.');
      const key = keyBytes(keyId);
      const bytes = Buffer.from(body, 'base64url');
      if (found !== version || key === undefined || more.length > 0 || bytes.length < tagBytes) return null;
      try {
        const decipher = createDecipheriv(algorithm, key, Buffer.from(nonce, 'base64url'), { authTagLength: tagBytes });
        decipher.setAAD(boundTo(keyId, place)).setAuthTag(bytes.subarray(-tagBytes));
        return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
      } catch {
        // The text was changed or belongs to another context.
        return null;
      }
    },
  };
}

function boundTo(keyId: string, place: EncryptionContext): Buffer {
  return Buffer.from(JSON.stringify(['quartermaster', version, keyId, ...place]));
}
