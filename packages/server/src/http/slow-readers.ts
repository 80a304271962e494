import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import type { App } from './app.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** How long an answer may wait for its reader, and how many bytes of answers may wait. */
export interface ReaderLimits {
  /** Milliseconds without progress after which a connection is ended. */
  readonly idleMs: number;
  /** Bytes of large answers that wait in memory, together. */
  readonly mostBytes: number;
  /** Milliseconds without progress after which a connection may be ended for another one when `mostBytes` are reached. */
  readonly stuckMs: number;
}

export const defaultReaderLimits: ReaderLimits = { idleMs: 60_000, mostBytes: 128 * 1024 * 1024, stuckMs: 1_000 };

/** Smaller answers are written at once: the operating system takes them. */
const largeBytes = 64 * 1024;
/** A slice of a large answer; the next follows when the one before has been taken. */
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
 * Ends connections whose clients do not read. A large text is written in slices as the client takes them, which shows its
 * progress. When too many bytes wait, the reader that is stuck for the longest time is ended.
 */
export function endSlowReaders(app: App, { address, metrics, limits }: SlowReaders): void {
  const waiting = new Set<WaitingAnswer>();
  let waitingBytes = 0;

  // Without a listener Node ends an idle socket by itself; writing that makes progress is not idle.
  app.server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) metrics.readerEnded(address, 'idle');
    socket.destroy();
  });

  /** The connection that has been without progress for longest. */
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
    // A closed connection emits no further event that would end the wait of its answer.
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
