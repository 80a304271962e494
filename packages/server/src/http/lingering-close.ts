import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import type { App } from './app.ts';

/**
 * Limits on reading refused bodies. Many clients read the response only after they have sent the whole body, and a
 * connection that closes earlier is reset, which destroys the response (RFC 9112 §9.6).
 */
export interface LingerLimits {
  readonly bytes: number;
  readonly milliseconds: number;
  /** Connections of the process that are read at once. Further connections close directly after the response. */
  readonly connections: number;
}
export const lingerLimits: LingerLimits = { bytes: 64 * 1024 * 1024, milliseconds: 10_000, connections: 64 };

/** Counts the connections of the process whose refused bodies are read. */
export const lingering = { connections: 0 };

/**
 * Reads and discards the rest of a body after an early response, and then closes the connection. Every text
 * response is sent at once. It ends when the body has arrived or a limit is reached.
 */
export function lingerOnUnreadBodies(app: App, limits: LingerLimits = lingerLimits): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    if (!isBodyPending(raw) || (typeof payload !== 'string' && !Buffer.isBuffer(payload))) return done(null, payload);
    // The end of a body that arrived in one piece becomes visible only later in the same tick of the event loop.
    turnOfEventLoop().then(() => {
      if (!isBodyPending(raw)) return done(null, payload);
      reply.header('Connection', 'close');
      if (lingering.connections >= limits.connections) return done(null, payload);
      reply.header('Content-Length', Buffer.byteLength(payload));
      done(null, answerThenDiscard(payload, raw, limits));
    });
  });
  // A response that is not a text does not wait for the body.
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (isBodyPending(raw)) setTimeout(() => raw.complete || raw.socket.destroy(), limits.milliseconds).unref();
    done();
  });
}

/** Requests without a body are not complete either until the parser has returned. Those of `app.inject` have no socket. */
function isBodyPending({ complete, destroyed, headers }: IncomingMessage): boolean {
  if (complete !== false || destroyed) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function answerThenDiscard(answer: string | Buffer, request: IncomingMessage, limits: LingerLimits): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(answer);
      lingering.connections += 1;
      try {
        await discard(request, limits);
      } finally {
        lingering.connections -= 1;
      }
    })(),
    { objectMode: false },
  );
}

function discard(request: IncomingMessage, limits: LingerLimits): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const timer = setTimeout(finish, limits.milliseconds);
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count);
      request.off('end', finish);
      request.off('close', finish);
      request.pause();
      resolve();
    }
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > limits.bytes) finish();
    }
    request.on('data', count);
    request.on('end', finish);
    request.on('close', finish);
    if (isBodyPending(request)) request.resume();
    else finish();
  });
}
