import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import { readServerEvents, type ServerEvent } from './server-events.ts';
import { sleep, startTimeLimit } from './transport/time-limit.ts';

export interface WaitOptions<State> {
  /** Milliseconds until the wait fails with TimeoutError; 0: no limit. Default: 600,000. The work itself continues. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each state that the service reports. */
  readonly onProgress?: ((state: State) => void) | undefined;
}

/** The object that is waited for. */
export interface Awaited<Item, State> {
  /** Such as `Record rcrd…`. */
  readonly name: string;
  /** Reads the object. */
  read(signal: AbortSignal): Promise<Item>;
  /** Opens its stream of events. */
  follow(signal: AbortSignal): Promise<Response>;
  isSettled(item: Item): boolean;
  /** Returns the state in an event; undefined when it has none. */
  stateOf(event: ServerEvent): State | undefined;
}

/** How long each step takes, in milliseconds. */
export interface WaitIntervals {
  /** Without an event for this long, a proxy holds the events back. The service sends the first one immediately. */
  readonly firstEventMs: number;
  /** Silence that ends a stream. The service sends a comment every 15 seconds. */
  readonly silenceMs: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

const defaultTimeoutMs = 600_000;
const defaultIntervals: WaitIntervals = {
  firstEventMs: 3_000,
  silenceMs: 45_000,
  firstPauseMs: 500,
  longestPauseMs: 5_000,
};

/**
 * Waits until an object is settled. It follows the events, and reads the object again when the stream ends or breaks. Where events do not
 * arrive, it reads the object at growing intervals. A service that restarts in the meantime does not end the wait.
 * @throws TimeoutError, ApiError
 */
export async function waitUntilSettled<Item, State>(
  awaited: Awaited<Item, State>,
  { timeout = defaultTimeoutMs, signal, onProgress }: WaitOptions<State | Item>,
  intervals: WaitIntervals = defaultIntervals,
): Promise<Item> {
  const limit = startTimeLimit(timeout, signal, () => {
    return new TimeoutError(`${awaited.name} was not settled within ${timeout} ms. It is still being processed.`);
  });
  const report = (state: State | Item) => {
    try {
      onProgress?.(state);
    } catch (error) {
      limit.abort(error);
    }
  };
  let hasEvents = true;
  let pauseMs = intervals.firstPauseMs;
  try {
    for (;;) {
      const item = await readUnlessDown(awaited, limit.signal);
      if (item !== undefined) {
        report(item);
        limit.signal.throwIfAborted();
        if (awaited.isSettled(item)) return item;
      }
      const outcome = hasEvents
        ? await followEvents(awaited, { signal: limit.signal, report, intervals: intervals })
        : 'broken';
      if (outcome === 'silent') hasEvents = false;
      if (outcome === 'ended') pauseMs = intervals.firstPauseMs;
      else {
        await sleep(pauseMs, limit.signal);
        pauseMs = Math.min(intervals.longestPauseMs, pauseMs * 2);
      }
    }
  } finally {
    limit.release();
  }
}

/** @returns undefined while the service cannot be reached */
async function readUnlessDown<Item>(
  { read }: Pick<Awaited<Item, unknown>, 'read'>,
  signal: AbortSignal,
): Promise<Item | undefined> {
  try {
    return await read(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isTemporary(error)) return undefined;
    throw error;
  }
}

interface Following<State> {
  readonly signal: AbortSignal;
  report(state: State): void;
  readonly intervals: WaitIntervals;
}

/** @returns `ended` after an orderly stream with events, `silent` when none arrived in time, `broken` for everything else */
async function followEvents<State>(
  awaited: Pick<Awaited<unknown, State>, 'follow' | 'stateOf'>,
  { signal, report, intervals }: Following<State>,
): Promise<'ended' | 'silent' | 'broken'> {
  const silence = startTimeLimit(intervals.firstEventMs, signal, () => undefined);
  let hasArrived = false;
  try {
    const { body } = await awaited.follow(silence.signal);
    for await (const event of body === null ? [] : readServerEvents(body, () => silence.restart(intervals.silenceMs))) {
      hasArrived = true;
      const state = awaited.stateOf(event);
      if (state !== undefined) report(state);
    }
    return hasArrived ? 'ended' : 'broken';
  } catch (error) {
    signal.throwIfAborted();
    if (!hasArrived && silence.isOver()) return 'silent';
    if (silence.isOver() || isTemporary(error) || !(error instanceof ApiError)) return 'broken';
    throw error;
  } finally {
    silence.release();
  }
}

/** Whether the same request can succeed later. */
function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof ApiError && [408, 429, 502, 503, 504].includes(error.status);
}
