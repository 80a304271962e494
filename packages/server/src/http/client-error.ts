import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem } from '../kernel/problem.ts';
import { errorBody } from './error-writer.ts';

/** @param headers headers of every response */
export function createClientErrorWriter(headers: Readonly<Record<string, string>>) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);

  function end(socket: Duplex, problem: Problem, status = problem.status): void {
    const requestId = `req_${randomBytes(12).toString('hex')}`;
    const body = JSON.stringify(errorBody(problem, requestId));
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\n${lines.join('')}` +
        `Connection: close\r\n\r\n${body}`,
    );
  }

  return {
    /**
     * Responds to requests that Node refuses before they reach Fastify: malformed HTTP, and headers that are too large
     * or too slow.
     */
    write(error: NodeJS.ErrnoException, socket: Socket): void {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      const problem = problemFor(error.code);
      end(socket, problem, error.code === 'HPE_HEADER_OVERFLOW' ? 431 : problem.status);
    },
    /** Node emits CONNECT as a separate event, and closes the connection when there is no listener. */
    answerConnect(_request: unknown, socket: Duplex): void {
      end(
        socket,
        new Problem('METHOD_NOT_ALLOWED', 'CONNECT is not allowed here because this service is not a proxy.'),
      );
    },
  };
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
