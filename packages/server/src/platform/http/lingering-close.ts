import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
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

/** Counts the connections of the process that are read after their last response. */
export const lingering = { connections: 0 };

/** Connections whose further input is discarded. */
const closing = new WeakSet<Socket>();

/** Whether the input of a connection is discarded, so that no request on it is served after the present one. */
export const isClosing = (socket: Socket): boolean => closing.has(socket);

/**
 * Discards what still arrives on a connection, and closes it in two stages: after the response in progress the service
 * sends nothing more, and reads until the client closes the connection or a limit is reached.
 */
export function closeInStages(socket: Socket, limits: LingerLimits): void {
  if (closing.has(socket)) return;
  closing.add(socket);
  let bytes = 0;
  const discard = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.bytes) socket.destroy();
  };
  // Node's parser reads the handle of the socket until somebody else listens for data. It stops the handle of a paused
  // socket, and starts it again only in its own listener of `resume`.
  socket.removeAllListeners('data');
  if (socket.isPaused()) socket.once('resume', () => socket.on('data', discard)).resume();
  else socket.on('data', discard);

  // Node calls this after the last response of a connection. Its own function closes both directions at once.
  const closeBoth = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (lingering.connections >= limits.connections) return closeBoth();
    lingering.connections += 1;
    const timer = setTimeout(() => socket.destroy(), limits.milliseconds);
    socket.once('close', () => {
      clearTimeout(timer);
      lingering.connections -= 1;
    });
    socket.end();
  };
}

/** Closes the connection of a request in stages when it is refused before its body has arrived. */
export function lingerOnUnreadBodies(app: App, limits: LingerLimits = lingerLimits): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    if (!isText || !(isBodyPending(raw) || isClosing(raw.socket))) return done(null, payload);
    // The end of a body that arrived in one piece becomes visible only later in the same tick of the event loop.
    turnOfEventLoop().then(() => {
      if (isBodyPending(raw)) closeInStages(raw.socket, limits);
      if (isClosing(raw.socket)) reply.header('Connection', 'close');
      done(null, payload);
    });
  });
  // A response that is not a text does not wait for the body.
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    if (isBodyPending(raw)) setTimeout(() => raw.complete || raw.socket.destroy(), limits.milliseconds).unref();
    done();
  });
}

/** Requests without a body are not complete either until the parser has returned. Those of `app.inject` have no socket. */
export function isBodyPending({ complete, destroyed, headers }: IncomingMessage): boolean {
  if (complete !== false || destroyed) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
