import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Administrator } from './administrator-repository.ts';

/**
 * Creates the device cookie of a browser that signed in: a random name and a signature with the administrator's secret.
 * It grants no access and only gives the browser a separate attempt counter. A new password invalidates every device
 * cookie.
 */
export function createDeviceCookie(administrator: Administrator): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${sign(administrator, name)}`;
}

/** Returns the name in a valid device cookie of this administrator, otherwise null. */
export function readDeviceCookie(cookie: string | undefined, administrator: Administrator | undefined): string | null {
  const [name = '', signature = ''] = (cookie ?? '').split('.', 2);
  if (administrator === undefined || !/^[\w-]{22}$/.test(name)) return null;
  const expected = Buffer.from(sign(administrator, name));
  const found = Buffer.from(signature);
  return found.length === expected.length && timingSafeEqual(found, expected) ? name : null;
}

function sign(administrator: Administrator, name: string): string {
  return createHmac('sha256', administrator.browserSecret).update(name).digest('base64url');
}
