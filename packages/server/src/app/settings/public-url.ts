import { withoutTrailingSlashes } from '@quartermaster/contract';
import { isPlainUrl } from './setting-checks.ts';

/** An http or https URL whose path, if there is one, needs no encoding in a page, a header or a cookie. */
export function isPublicUrl(text: string): boolean {
  const path = URL.parse(text)?.pathname ?? '';
  const isWeb = /^https?:\/\//i.test(text);
  return isWeb && isPlainUrl(text) && !path.includes('//') && /^[A-Za-z0-9._~/-]+$/.test(path);
}

/** Removes trailing slashes and the default port, and resolves the segments `.` and `..`. */
export function normalizePublicUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + withoutTrailingSlashes(pathname);
}
