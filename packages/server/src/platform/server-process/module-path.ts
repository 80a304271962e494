import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Returns the URL of another module of the program, for a thread or a child process. `name` is relative to the calling module and
 * has no extension: the result has that of the caller, `.ts` in a checkout and `.js` in the published package.
 */
export function moduleUrl(caller: ImportMeta, name: string): URL {
  return new URL(name + extname(caller.url), caller.url);
}

/** Returns the path of another module of the program, as {@link moduleUrl} does its URL. */
export function modulePath(caller: ImportMeta, name: string): string {
  return fileURLToPath(moduleUrl(caller, name));
}
