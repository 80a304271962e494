import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Administrator } from './administrator-repository.ts';

/**
 * A browser that signed in gets a mark: a random name and a signature made with the administrator's secret. It opens
 * nothing; it only gives the browser a count of attempts of its own. A new password makes every mark void.
 */
export function createDeviceCookie(administrator: Administrator): string {
  const name = randomBytes(16).toString('base64url');
  return `${name}.${sign(administrator, name)}`;
}

/** The name in a mark of this administrator; null for everything else. */
export function readDeviceCookie(mark: string | undefined, administrator: Administrator | undefined): string | null {
  const [name = '', signature = ''] = (mark ?? '').split('.', 2);
  if (administrator === undefined || !/^[\w-]{22}$/.test(name)) return null;
  const expected = Buffer.from(sign(administrator, name));
  const found = Buffer.from(signature);
  return found.length === expected.length && timingSafeEqual(found, expected) ? name : null;
}

function sign(administrator: Administrator, name: string): string {
  return createHmac('sha256', administrator.browserSecret).update(name).digest('base64url');
}
