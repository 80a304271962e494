import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from './caller.ts';
import type { OperationName } from './operations.ts';

/** A caller that keeps one queue of the service full with its worst known payload. */
export interface Attack {
  /** The queue, or the resource that the payload uses up. */
  readonly queue: string;
  readonly payload: string;
  /** The number of requests that it keeps in flight. */
  readonly width: number;
  /** Whether it has no key. Default: it has a key of the first project. */
  readonly keyless?: boolean;
  /** Operations that use the queue, in addition to those that are measured for every queue. */
  readonly own?: readonly OperationName[];
  /** Whether the attack counts as started only after a refusal, which shows that the queue is full. */
  readonly untilRefused?: boolean;
  /** Whether the service embeds questions, with a slow model. */
  readonly embeds?: boolean;
  /** Settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Builds its payload, if that takes long. Runs before the service starts. */
  readonly build?: () => void;
  /**
   * Creates the objects that its requests name.
   * @returns the function that sends one request, and resolves with its outcome when it has ended
   */
  prepare(caller: Caller): Promise<(index: number) => Promise<string>>;
}

export interface Saturation {
  /** Describes the requests so far, for example `200: 3, 429: 17, in flight: 24`. */
  describe(): string;
  /** Whether a request was refused because a queue is full. */
  wasRefused(): boolean;
  /** Whether a request was refused, or at least half of the requests are in flight. Otherwise they did not reach the queue. */
  wasFull(): boolean;
  /** Resolves after all requests have ended. They end when the caller leaves. */
  end(): Promise<void>;
}

/** Milliseconds before a refused request is sent again. */
const refusedPause = 500;

/** Sends requests continuously, `width` at a time. */
export function saturate({ width }: Attack, send: (index: number) => Promise<string>, signal: AbortSignal): Saturation {
  const outcomes = new Map<string, number>();
  let inFlight = 0;
  const work = async (index: number) => {
    for (let count = 0; !signal.aborted; count++) {
      inFlight += 1;
      const outcome = await send(index + count * width).catch((error) => nameOf(error));
      inFlight -= 1;
      if (signal.aborted) return;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (/^[2]/.test(outcome)) continue;
      await pause(refusedPause, undefined, { signal }).catch(() => {});
    }
  };
  const ended = Promise.all(Array.from({ length: width }, (_, index) => work(index)));
  return {
    describe: () => [...outcomes, ['in flight', inFlight]].map(([name, count]) => `${name}: ${count}`).join(', '),
    wasRefused: () => outcomes.has('429'),
    wasFull: () => outcomes.has('429') || inFlight >= width / 2,
    end: async () => void (await ended),
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(/^.*: /, '').slice(0, 60);
}
