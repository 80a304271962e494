import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';

/** How much of a refused body is still read, so that the client finds the answer instead of a broken connection. */
export interface DrainLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}
export const drainLimits: DrainLimits = { bytes: 1024 * 1024, milliseconds: 2000 };

/**
 * Whether bytes of the request are still on their way. Looks twice: when a body that came in one piece is refused, its
 * end is noticed in the same turn of the event loop, only later.
 */
export async function isBodyStillComing(request: IncomingMessage): Promise<boolean> {
  if (isBodyPending(request)) await turnOfEventLoop();
  return isBodyPending(request);
}

function isBodyPending(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed;
}

/**
 * The answer at once, its end only when the body has come or the limits are reached. Closing a connection on which bytes
 * still arrive resets it, and the client may lose an answer that it has not read yet (RFC 9112 §9.6).
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
