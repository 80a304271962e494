import type { App } from './app.ts';

/** A browser may keep the answer to a preflight request for this many seconds. */
const preflightSeconds = '600';
/** Response headers that pages of other origins may read in addition to the safelisted ones. */
const exposedHeaders =
  'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Retry-After, WWW-Authenticate, X-Request-Id';

/**
 * Lets pages of the listed origins call with a key in `Authorization`. No answer allows credentials of the browser, so the
 * cookies of a session never travel; the session check refuses other origins besides. Adds nothing for other origins.
 */
export function allowOrigins(app: App, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return done();
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return done();
    const headers = request.headers['access-control-request-headers'];
    if (headers !== undefined) reply.header('access-control-allow-headers', headers);
    reply
      .code(204)
      .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE')
      .header('access-control-max-age', preflightSeconds)
      .send();
  });
  // Every answer depends on the origin, also one without the header: caches must not mix them.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
    done();
  });
}
