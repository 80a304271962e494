import type { onSendHookHandler } from 'fastify';
import type { App } from './app.ts';
import type { StreamAccess } from './stream-access.ts';

const eventStream = 'text/event-stream';

/**
 * Headers of every event stream. Proxies would otherwise collect its events or compress them, so that they arrive late.
 * `X-Accel-Buffering` is for nginx, `no-transform` for proxies that compress.
 */
const streamHeaders = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

/**
 * Sets the headers of event streams and watches the streams. Only routes that may respond with an event stream have the
 * hook: those that declare it, and MCP.
 * @param streams ends streams with their key or session; without it they stay open
 */
export function prepareEventStreams(app: App, streams: StreamAccess | undefined): void {
  const prepare: onSendHookHandler = (request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    if (typeof type === 'string' && type.startsWith(eventStream)) {
      reply.headers(streamHeaders);
      streams?.watch(request, reply.raw);
    }
    done(null, payload);
  };
  app.addHook('onRoute', (route) => {
    const { url, schema } = route;
    if (!url.startsWith('/mcp') && !JSON.stringify(schema?.response ?? {}).includes(eventStream)) return;
    route.onSend = [...[route.onSend ?? []].flat(), prepare];
  });
}
