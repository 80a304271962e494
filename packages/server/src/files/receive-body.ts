import type { Readable } from 'node:stream';
import { bodyCutShort, uploadTooSlow } from './problems.ts';

/** How slowly a body may come. */
export interface Pace {
  /** Milliseconds without a byte. */
  readonly idle: number;
  /** Milliseconds before the least rate is asked for. */
  readonly grace: number;
  /** Least bytes a second, on average since the start. */
  readonly leastRate: number;
}

/**
 * Feeds a request body to `take` until the message is complete. When `take` gives a promise, no byte is read until it
 * resolves, and that time does not count. Rejects with what `take` throws, with INVALID_REQUEST when the client is gone
 * or the body ends early, with REQUEST_TIMEOUT when it comes too slowly. Never destroys the stream: whoever answers
 * decides about the connection.
 */
export function receiveBody(
  body: Readable,
  take: (chunk: Buffer) => Promise<void> | undefined,
  pace: Pace,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (body.destroyed || body.readableEnded) {
      reject(bodyCutShort());
      return;
    }
    const watch = watchPace(pace, settle);
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
    // A connection that breaks is also an error of the stream; `close` follows it, also after we are done.
    body.on('error', () => {});
  });
}

/** Looks at the pace once a second at most; a body that is there in one piece costs one timer that never fires. */
function watchPace(pace: Pace, giveUp: (problem: unknown) => void) {
  const start = performance.now();
  let last = start;
  let paused = 0;
  let pausedAt: number | undefined;
  let bytes = 0;

  function look(): void {
    if (pausedAt !== undefined) return;
    const now = performance.now();
    const elapsed = now - start - paused;
    if (now - last > pace.idle) {
      giveUp(uploadTooSlow(`no byte came for ${pace.idle / 1000} seconds`));
    } else if (elapsed > pace.grace && bytes < (pace.leastRate * elapsed) / 1000) {
      giveUp(uploadTooSlow(`it came with less than ${pace.leastRate} bytes a second`));
    }
  }
  const timer = setInterval(look, Math.max(10, Math.min(1000, pace.idle / 4)));

  return {
    count(length: number): void {
      bytes += length;
      last = performance.now();
    },
    pause(): void {
      pausedAt = performance.now();
    },
    resume(): void {
      const now = performance.now();
      paused += now - (pausedAt ?? now);
      last = now;
      pausedAt = undefined;
    },
    stop: () => clearInterval(timer),
  };
}
