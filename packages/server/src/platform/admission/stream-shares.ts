import type { CountExceeded } from '../concurrency/limit-counter.ts';
import { Problem } from '../problem.ts';
import type { Admission } from './admission.ts';
import type { Owner } from './owner.ts';
import type { ExceededShare } from './places.ts';
import { queues } from './queues.ts';

/** Concurrent event streams in one process. A session counts as one key. */
export const streamLimits = { ofKey: 20, ofProject: 100, ofProcess: queues.event_streams.atOnce } as const;

/** Limits event streams of records, runs and MCP subscriptions, which stay open until their clients leave. */
export interface StreamShares {
  /**
   * Acquires a stream. It is released when the signal aborts or the returned function is called; repeated calls have no effect.
   * @throws Problem TOO_MANY_REQUESTS
   */
  enter(owner: Owner, ended: AbortSignal): () => void;
}

export interface StreamSharesDeps {
  readonly limits?: typeof streamLimits | { readonly [Name in keyof typeof streamLimits]: number };
  readonly countExceeded?: CountExceeded;
  readonly admission: Admission;
}

const exceededLimits = {
  key: 'event_streams_of_key',
  project: 'event_streams_of_project',
  all: 'event_streams_of_process',
};
const holders = { key: 'This key', project: 'The project, or all callers without a key,', all: 'The service' };

export function createStreamShares(deps: StreamSharesDeps): StreamShares {
  const { limits = streamLimits, countExceeded, admission } = deps;
  const { ofKey, ofProject, ofProcess } = limits;

  function refuse(exceeded: ExceededShare, most: number): Problem {
    countExceeded?.(exceededLimits[exceeded]);
    return new Problem(
      'TOO_MANY_REQUESTS',
      `${holders[exceeded]} may have ${most} open event streams at present. Close some, or poll the status instead.`,
      { retryAfter: 5 },
    );
  }
  const places = admission.places('event_streams', { places: ofProcess, ofProject, ofKey, refuse });

  return {
    enter(owner, ended) {
      const leave = places.enter(owner);
      // A stream that is never read does not run its `finally`, and the client may have disconnected already.
      if (ended.aborted) leave();
      else ended.addEventListener('abort', leave, { once: true });
      return leave;
    },
  };
}
