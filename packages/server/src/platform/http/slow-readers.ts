import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Problem } from '../problem.ts';
import type { App } from './app.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** Limits on the time and the bytes of responses that wait for their readers. */
export interface ReaderLimits {
  /** Milliseconds without progress after which a connection is closed. */
  readonly idleMs: number;
  /** The total bytes of large responses that may wait in memory. */
  readonly mostBytes: number;
  /**
   * Milliseconds without progress after which a connection may be closed in favour of another when `mostBytes` is
   * reached.
   */
  readonly stuckMs: number;
}

export const defaultReaderLimits: ReaderLimits = { idleMs: 60_000, mostBytes: 128 * 1024 * 1024, stuckMs: 1_000 };

/** Smaller responses are written immediately, because the operating system buffers them. */
const largeBytes = 64 * 1024;
/** The size of a slice of a large response. The next slice follows when the client has read the previous one. */
const sliceBytes = 64 * 1024;

interface WaitingAnswer {
  readonly response: ServerResponse;
  readonly bytes: number;
  takenAt: number;
}

export interface SlowReaders {
  readonly address: string;
  readonly metrics: RequestMetrics;
  readonly limits: ReaderLimits;
}

/**
 * Closes connections whose clients do not read. A large text is written in slices as the client reads them, which shows
 * its progress. When too many bytes wait, the connection that has been stuck for the longest time is closed.
 */
export function endSlowReaders(app: App, { address, metrics, limits }: SlowReaders): void {
  const waiting = new Set<WaitingAnswer>();
  let waitingBytes = 0;

  // Without a listener, Node closes an idle socket itself. A write that makes progress is not idle.
  app.server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) metrics.readerEnded(address, 'idle');
    socket.destroy();
  });

  /** Closes the connection that has made no progress for the longest time. */
  function endOneStuck(): boolean {
    let longest: WaitingAnswer | undefined;
    for (const answer of waiting) if (longest === undefined || answer.takenAt < longest.takenAt) longest = answer;
    if (longest === undefined || performance.now() - longest.takenAt < limits.stuckMs) return false;
    metrics.readerEnded(address, 'memory');
    forget(longest);
    longest.response.destroy();
    return true;
  }

  function forget(answer: WaitingAnswer): void {
    if (waiting.delete(answer)) waitingBytes -= answer.bytes;
  }

  function inSlices(text: string, reply: FastifyReply): Readable {
    const bytes = Buffer.from(text);
    while (waitingBytes > 0 && waitingBytes + bytes.length > limits.mostBytes) {
      if (!endOneStuck()) throw tooManyAnswers();
    }
    const answer: WaitingAnswer = { response: reply.raw, bytes: bytes.length, takenAt: performance.now() };
    waiting.add(answer);
    waitingBytes += bytes.length;
    reply.raw.once('close', () => forget(answer));
    reply.header('content-length', bytes.length);
    return Readable.from(slicesOf(bytes, answer), { objectMode: false, highWaterMark: sliceBytes });
  }

  app.addHook('onSend', (_request, reply, payload, done) => {
    // A closed connection emits no further event that would end the wait of its response.
    const isSmall = typeof payload !== 'string' || payload.length <= largeBytes;
    if (isSmall || reply.raw.closed) return done(null, payload);
    try {
      done(null, inSlices(payload, reply));
    } catch (error) {
      done(error as Error);
    }
  });
}

function* slicesOf(bytes: Buffer, answer: WaitingAnswer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    answer.takenAt = performance.now();
    yield bytes.subarray(at, at + sliceBytes);
  }
}

function tooManyAnswers(): Problem {
  const message = 'Too many clients are reading large responses. Retry later, or request fewer items.';
  return new Problem('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
}
