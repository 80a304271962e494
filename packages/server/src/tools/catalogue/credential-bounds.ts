import { maxCredentials } from '@quartermaster/contract';
import { jsonSize } from '../../platform/json/json-size.ts';
import type { Problem } from '../../platform/problem.ts';
import { fieldInvalid } from '../../platform/validation/validation-error.ts';
import type { CompiledBundle, CompiledPlugin } from './catalogue.ts';
import { valueInvalid } from './problems.ts';

type Named = Readonly<Record<string, unknown>>;

/** The limits of the credentials of one request. Source: docs/contract "Bundles and plugins". */
export const credentialLimits = { members: maxCredentials, valueBytes: 8 * 1024, totalBytes: 32 * 1024 } as const;

/**
 * Checks the number and the size of credentials before anything is computed from them: a hash, a signature, or the encodings for
 * redaction. Sizes are bytes of names and values in UTF-8.
 * @param except a member that is not counted
 * @throws Problem 422, which shows no value and no name that the caller chose
 */
export function checkCredentialBounds(credentials: Named, except?: string): void {
  const { members, valueBytes, totalBytes } = credentialLimits;
  const names = Object.keys(credentials).filter((name) => name !== except);
  if (names.length > members)
    throw tooLarge(`an object of ${names.length} members`, `an object of at most ${members} members`);
  let total = 0;
  for (const name of names) {
    const size = sizeOf(credentials[name]);
    if (size > valueBytes)
      throw tooLarge('a larger one', `an object whose values have at most ${valueBytes} bytes each`);
    total += size + Buffer.byteLength(name);
  }
  if (total > totalBytes) throw tooLarge(`${total} bytes`, `at most ${totalBytes} bytes in total`);
}

/** Keeps the declared members only. Other members are ignored: they are not checked, sent or redacted. */
export function declaredCredentials(
  { credentialNames }: Pick<CompiledBundle, 'credentialNames'>,
  received: Named,
): Record<string, unknown> {
  const declared = [...credentialNames].filter((name) => Object.hasOwn(received, name));
  return Object.fromEntries(declared.map((name) => [name, received[name]]));
}

/**
 * Returns the declared members of credentials, checked by the schema of their bundle.
 * @param plugin what they are for, when its needs may differ from those of the bundle
 * @throws Problem 422 when they are too large or wrong
 */
export function readCredentials(
  bundle: CompiledBundle,
  received: Named,
  plugin: Pick<CompiledPlugin, 'checkCredentials'> = bundle,
): Record<string, unknown> {
  checkCredentialBounds(received);
  const credentials = declaredCredentials(bundle, received);
  const violations = plugin.checkCredentials(credentials);
  if (violations.length > 0) throw valueInvalid('credentials', violations);
  return credentials;
}

function sizeOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : jsonSize(value, credentialLimits.valueBytes);
}

function tooLarge(found: string, expected: string): Problem {
  return fieldInvalid('body/credentials', found, expected);
}
