import { randomBytes } from 'node:crypto';
import { checkName } from '../../platform/check-name.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/identifier.ts';
import type { Administrator } from './administrator-repository.ts';
import { hashPassword } from './password.ts';
import { checkPassword } from './password-policy.ts';

/**
 * Checks the name and the password and returns an administrator that is not stored yet.
 * @throws Problem REQUEST_VALIDATION_ERROR, which never contains the password
 */
export async function newAdministrator(
  { clock, newId }: { readonly clock: Clock; readonly newId: NewId },
  { name, password }: { readonly name: string; readonly password: string },
): Promise<Administrator> {
  checkName(name, 64);
  await checkPassword(password, name);
  const at = clock.now();
  return {
    id: newId('administrator'),
    name,
    passwordHash: await hashPassword(password),
    browserSecret: randomBytes(32).toString('hex'),
    createdAt: at,
    updatedAt: at,
  };
}
