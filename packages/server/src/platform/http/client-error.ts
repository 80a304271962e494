import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { Problem } from '../problem.ts';
import type { App } from './app.ts';
import { errorBody } from './error-writer.ts';

/** `import` would read every member of `node:http`, of which one loads a client for WebSocket in 50 ms. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Answers requests that Node refuses before they reach Fastify: malformed HTTP, and headers that are too large or too
 * slow. The rest of their connections is read for a while, so that the answer arrives.
 *
 * @param headers headers of every response
 */
export function createClientErrorWriter(headers: Readonly<Record<string, string>>, limits: LingerLimits) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  /** The response to the last request of each connection. */
  const latest = new WeakMap<Socket, ServerResponse>();

  function answer(socket: Socket, problem: Problem, status = problem.status): void {
    if (!socket.writable) return;
    const requestId = `req_${randomBytes(12).toString('hex')}`;
    const body = JSON.stringify(errorBody(problem, requestId));
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n${lines.join('')}` +
        `Connection: close\r\n\r\n${body}`,
    );
    socket.destroySoon();
  }

  function write(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed) {
      socket.destroy();
      return;
    }
    if (isClosing(socket)) return;
    closeInStages(socket, limits);
    const response = latest.get(socket);
    if (response !== undefined && !response.req.complete) {
      endBody(response.req);
      if (response.closed) socket.destroySoon();
      return;
    }
    const problem = problemFor(error.code);
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : problem.status;
    if (response === undefined || response.closed) answer(socket, problem, status);
    else response.once('close', () => answer(socket, problem, status));
  }

  return {
    write,
    listen(server: Server): void {
      for (const event of ['request', 'checkContinue', 'checkExpectation']) {
        server.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
          latest.set(socket, response);
        });
      }
      // Node emits CONNECT as a separate event, and closes the connection when there is no listener.
      server.on('connect', (_request, socket) => {
        const message = 'CONNECT is not allowed here because this service is not a proxy.';
        if (!(socket instanceof Socket)) return void socket.destroy();
        closeInStages(socket, limits);
        answer(socket, new Problem('METHOD_NOT_ALLOWED', message));
      });
    },
  };
}

/**
 * Ends a body that is malformed. Its readers fail as they do when the client disconnects, and the connection stays open
 * for the response of the route, which the stream of a request would otherwise close.
 */
function endBody(request: IncomingMessage): void {
  request._destroy = (_error, callback) => callback(null);
  request.destroy();
}

function problemFor(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('INVALID_REQUEST', 'The request headers are larger than 16 KiB. Send smaller headers.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('REQUEST_TIMEOUT', 'The request headers did not arrive in time. Retry the request.');
    default:
      return new Problem(
        'INVALID_REQUEST',
        'The request is not valid HTTP/1.1. Check its syntax, and that the URL scheme matches the port.',
      );
  }
}

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
