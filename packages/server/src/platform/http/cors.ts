import type { App } from './app.ts';

/** A browser may keep the answer to a preflight request for this many seconds. */
const preflightSeconds = '600';
/** Response headers that pages of other origins may read in addition to the safelisted ones. */
const exposedHeaders =
  'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id';

/**
 * Lets pages of the listed origins call with a key in `Authorization`. No response allows browser credentials, so
 * session cookies are never sent. The session check also refuses other origins. Adds nothing for other origins.
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
  // Every response depends on the origin, even without the header, so caches must distinguish them.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
    done();
  });
}
