import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';

/**
 * An `onSend` hook. It closes the connection when the response precedes the end of the body, after the client could
 * read the response.
 */
export async function closeUnlessRead(
  request: { readonly raw: IncomingMessage },
  reply: { header(name: string, value: string | number): unknown },
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || !(await isBodyStillComing(request.raw))) return payload;
  reply.header('Connection', 'close');
  reply.header('Content-Length', Buffer.byteLength(payload));
  return answerThenDrain(payload, request.raw);
}

/** Limits on reading a refused body. Reading on lets the client receive the response instead of a broken connection. */
export interface DrainLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}
export const drainLimits: DrainLimits = { bytes: 1024 * 1024, milliseconds: 2000 };

/**
 * Returns whether bytes of the request are still arriving. It checks twice, because the end of a body that arrived in
 * one piece is noticed only later in the same turn of the event loop.
 */
export async function isBodyStillComing(request: IncomingMessage): Promise<boolean> {
  if (isBodyPending(request)) await turnOfEventLoop();
  return isBodyPending(request);
}

function isBodyPending(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed;
}

/**
 * Sends the response immediately, and ends it only when the body has arrived or the limits are reached. Closing a
 * connection on which bytes still arrive resets it, and the client may lose the response (RFC 9112 §9.6).
 */
export function answerThenDrain(answer: string | Buffer, request: IncomingMessage, limits = drainLimits): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(answer);
      await drain(request, limits);
    })(),
    { objectMode: false },
  );
}

function drain(request: IncomingMessage, limits: DrainLimits): Promise<void> {
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
