import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PasswordAccount } from './account-repository.ts';

/**
 * Creates the device cookie of a browser that signed in: a random name and a signature with the account's secret.
 * It grants no access and only gives the browser a separate attempt counter. A new password invalidates every device
 * cookie.
 */
export function createDeviceCookie(account: PasswordAccount): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${sign(account, name)}`;
}

/** Returns the name in a valid device cookie of this account, otherwise null. */
export function readDeviceCookie(cookie: string | undefined, account: PasswordAccount | undefined): string | null {
  const [name = '', signature = ''] = (cookie ?? '').split('.', 2);
  if (account === undefined || !/^[\w-]{22}$/.test(name)) return null;
  const expected = Buffer.from(sign(account, name));
  const found = Buffer.from(signature);
  return found.length === expected.length && timingSafeEqual(found, expected) ? name : null;
}

function sign(account: PasswordAccount, name: string): string {
  return createHmac('sha256', account.browserSecret).update(name).digest('base64url');
}
