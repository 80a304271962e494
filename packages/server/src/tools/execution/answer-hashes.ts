import { randomBytes } from 'node:crypto';
import { type KeyedHashes, keyedHash } from '../../platform/keyed-hash.ts';
import type { AnswerKeyRepository } from './answer-key-repository.ts';

/**
 * Opens the keyed hashes that bind stored answers to their callers. All processes of a store compute the same hashes. The key
 * is the encryption key of the store; without one it is a random secret in the database, which backups leave out. Source: ADR
 * 0083.
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
  // The secret was stored before the store had an encryption key: answers from that time stay valid.
  return (text) => [...encryption(text), keyedHash(Buffer.from(stored, 'base64url'), text)];
}
