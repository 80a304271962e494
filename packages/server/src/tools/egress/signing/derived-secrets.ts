import type { Injection } from '@quartermaster/plugin-kit';
import { systemClock } from '../../../platform/clock.ts';
import type { Credentials } from '../prepared-injection.ts';
import { awsSigningKey } from './sign-aws.ts';
import { hmacKey } from './sign-hmac.ts';
import { readAwsKeys } from './signers.ts';
import { formEncoded } from './token-need.ts';

/**
 * Returns values that contain a secret in another form: `user:password` of basic authentication, the bytes of an encoded key, the
 * daily key of AWS signatures.
 */
export function derivedSecrets(inject: readonly Injection[], credentials: Credentials): Array<string | Uint8Array> {
  return inject.flatMap((injection) => derivedFrom(injection, credentials));
}

function derivedFrom(injection: Injection, credentials: Credentials): Array<string | Uint8Array> {
  const secretOf = (name: string | undefined) => credentials.get(name ?? '')?.reveal() ?? '';
  switch (injection.in) {
    case 'basic':
      return pair(secretOf(injection.username), secretOf(injection.password));
    case 'oauth2':
      return pair(formEncoded(secretOf(injection.client_id)), formEncoded(secretOf(injection.client_secret)));
    case 'hmac': {
      const { key_encoding: encoding = 'text' } = injection;
      const key = encoding === 'text' ? null : hmacKey(secretOf(injection.credential), encoding);
      return key === null ? [] : [key];
    }
    case 'aws_sigv4': {
      const keys = readAwsKeys(injection, credentials);
      return keys === null || 'refusal' in keys ? [] : [awsSigningKey(keys, systemClock.now())];
    }
    default:
      return [];
  }
}

function pair(name: string, secret: string): string[] {
  return secret === '' ? [] : [`${name}:${secret}`];
}
