import { Problem } from '../problem.ts';
import type { App } from './app.ts';

/**
 * Returns the path of a public URL, such as `/quartermaster`, without a trailing slash. A proxy removes it from requests, and every
 * path in an answer starts with it. Empty when there is none. ADR 0105.
 */
export function basePathOf(publicUrl: string | null): string {
  const path = publicUrl === null ? '' : new URL(publicUrl).pathname;
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Answers requests from which the proxy did not remove the base path with 404 and the remedy. A path that exists is served. */
export function explainBasePath(app: App, { basePath, setting }: { basePath: string; setting: string }): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const [path] = request.url.split('?', 1);
    const isBelow = path === basePath || request.url.startsWith(`${basePath}/`);
    return done(request.is404 && isBelow ? basePathNotRemoved(basePath, setting) : undefined);
  });
}

function basePathNotRemoved(basePath: string, setting: string): Problem {
  return new Problem(
    'OBJECT_NOT_FOUND',
    `The request still has the base path ${basePath} of ${setting}. Configure the proxy to remove it from the path, and open the console at the URL in ${setting}.`,
  );
}
