import type { Readable } from 'node:stream';
import { type MinimumRate, watchRate } from '../../../platform/concurrency/minimum-rate.ts';
import { bodyCutShort, uploadTooSlow } from '../problems.ts';

/**
 * Passes a request body to `take` until the message is complete. When `take` returns a promise, nothing is read until
 * it resolves, and that time does not count. Rejects with the error of `take`, with INVALID_REQUEST when the client
 * disconnects or the body ends early, and with REQUEST_TIMEOUT when it arrives too slowly. It never destroys the
 * stream, because the code that responds decides about the connection.
 */
export function receiveBody(
  body: Readable,
  take: (chunk: Buffer) => Promise<void> | undefined,
  minimumRate: MinimumRate,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (body.destroyed || body.readableEnded) {
      reject(bodyCutShort());
      return;
    }
    const watch = watchRate(minimumRate, (reason) => settle(uploadTooSlow(reason)));
    let waiting = false;
    let ended = false;
    let settled = false;

    function settle(error?: unknown): void {
      if (settled) return;
      settled = true;
      watch.stop();
      body.off('data', onData);
      body.off('end', onEnd);
      body.off('close', onClose);
      if (error === undefined) {
        resolve();
        return;
      }
      body.pause();
      reject(error);
    }

    function onData(chunk: Buffer): void {
      watch.count(chunk.length);
      try {
        const wait = take(chunk);
        if (wait !== undefined) holdBack(wait);
      } catch (error) {
        settle(error);
      }
    }

    function holdBack(wait: Promise<void>): void {
      waiting = true;
      body.pause();
      watch.pause();
      wait.then(() => {
        waiting = false;
        if (settled) return;
        watch.resume();
        if (ended) settle();
        else body.resume();
      }, settle);
    }

    function onEnd(): void {
      ended = true;
      if (!waiting) settle();
    }
    function onClose(): void {
      if (!ended) settle(bodyCutShort());
    }

    body.on('data', onData);
    body.on('end', onEnd);
    body.on('close', onClose);
    // A broken connection is also an error of the stream. `close` follows it, even after the body has ended.
    body.on('error', () => {});
  });
}
