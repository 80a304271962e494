import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import { Problem } from '../problem.ts';
import { errorBody } from './error-writer.ts';
import { closeInStages, isClosing, type LingerLimits } from './lingering-close.ts';

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
