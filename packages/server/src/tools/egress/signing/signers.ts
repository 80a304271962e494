import type { AwsSigning, HmacSigning } from '@quartermaster/plugin-kit';
import { isHeaderValue } from '../header-text.ts';
import { type Credentials, missing, type PreparedInjection, textOf, unfitForHeader } from '../prepared-injection.ts';
import { type AwsKeys, createAwsSigner } from './sign-aws.ts';
import { createHmacSigner, hmacKey } from './sign-hmac.ts';
import type { Signer } from './signing.ts';

export function prepareAwsSigner(
  declared: AwsSigning,
  credentials: Credentials,
): PreparedInjection<{ signer: Signer }> {
  const keys = readAwsKeys(declared, credentials);
  if (keys === null || 'refusal' in keys) return keys;
  return { signer: { sign: createAwsSigner(keys), queryNames: [] } };
}

/** null when neither part of the key was sent. */
export function readAwsKeys(declared: AwsSigning, credentials: Credentials): PreparedInjection<AwsKeys> {
  const secretOf = (name: string | undefined) => (name === undefined ? undefined : credentials.get(name)?.reveal());
  const accessKeyId = secretOf(declared.access_key_id);
  const secretAccessKey = secretOf(declared.secret_access_key);
  if (accessKeyId === undefined && secretAccessKey === undefined) return null;
  if (accessKeyId === undefined) return missing(declared.access_key_id);
  if (secretAccessKey === undefined) return missing(declared.secret_access_key);
  const sessionToken = secretOf(declared.session_token);
  const texts = { service: textOf(declared.service, credentials), region: textOf(declared.region, credentials) };
  for (const member of ['service', 'region'] as const) {
    const source = declared[member];
    if (texts[member] === undefined && typeof source !== 'string') return missing(source.credential);
  }
  const parts = { [declared.access_key_id]: accessKeyId, [declared.session_token ?? '']: sessionToken ?? '' };
  const unfit = Object.entries(parts).find(([, value]) => !isHeaderValue(value));
  if (unfit !== undefined) return unfitForHeader(unfit[0]);
  const { service = '', region = '' } = texts;
  return { accessKeyId, secretAccessKey, sessionToken, service, region };
}

export function prepareHmacSigner(
  declared: HmacSigning,
  credentials: Credentials,
): PreparedInjection<{ signer: Signer }> {
  const secret = credentials.get(declared.credential)?.reveal();
  if (secret === undefined) return null;
  const key = hmacKey(secret, declared.key_encoding);
  if (key === null) {
    const message = `is not ${declared.key_encoding}, so it cannot be used as a signing key`;
    return { refusal: { credential: declared.credential, message } };
  }
  const credentialOf = (name: string) => credentials.get(name)?.reveal();
  for (const [, name = ''] of (declared.signature.template ?? '').matchAll(/\{credential:([A-Za-z0-9_.-]+)\}/g)) {
    const value = credentialOf(name);
    if (value === undefined) return missing(name);
    if (declared.signature.in === 'header' && !isHeaderValue(value)) return unfitForHeader(name);
  }
  const places = [declared.signature, declared.timestamp, declared.nonce];
  const queryNames = places.flatMap((place) => (place?.in === 'query' ? [place.name ?? ''] : []));
  return { signer: { sign: createHmacSigner(declared, key, credentialOf), queryNames } };
}
