import { randomBytes } from 'node:crypto';
import { type KeyedHashes, keyedHash } from '../kernel/keyed-hash.ts';
import type { AnswerKeyRepository } from './answer-key-repository.ts';

/**
 * The keyed hashes that bind kept answers to their callers. All processes of a store compute the same ones: from its encryption key,
 * or without one from a random secret in the database, which backups leave out. Source: ADR 0083.
 */
export async function openAnswerHashes(
  encryption: KeyedHashes | null,
  repository: AnswerKeyRepository,
): Promise<KeyedHashes> {
  const stored = await repository.find();
  if (encryption === null) {
    const secret = stored ?? (await repository.add(randomBytes(32).toString('base64url')));
    return (text) => [keyedHash(Buffer.from(secret, 'base64url'), text)];
  }
  if (stored === undefined) return encryption;
  // The encryption key came later than the secret.
  return (text) => [...encryption(text), keyedHash(Buffer.from(stored, 'base64url'), text)];
}
