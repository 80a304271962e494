import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { issuer } from './oauth-app.ts';

/** The key of an application, and the document with its public part. */
export function createClientKey() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
  return { privateKey, publicKey, keys: JSON.stringify({ keys: [jwk] }) };
}

export interface ProofChanges {
  readonly header?: object;
  readonly claims?: object;
  readonly key?: KeyObject;
  readonly signature?: (text: string) => string;
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Returns the fields with which an application proves that it has a key (`private_key_jwt`). */
export function proofOf(clientId: string, own: KeyObject, changes: ProofChanges = {}) {
  const { header, claims, key = own, signature } = changes;
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), iat: now, exp: now + 60, ...claims };
  const text = `${encode({ alg: 'RS256', kid: 'one', ...header })}.${encode(all)}`;
  const signed = signature?.(text) ?? sign('sha256', Buffer.from(text), key).toString('base64url');
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${text}.${signed}`,
  };
}
