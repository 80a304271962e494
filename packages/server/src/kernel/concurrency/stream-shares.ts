import { Gauge, type Registry } from '../metrics.ts';
import { Problem } from '../problem.ts';
import type { Owner } from './fair-queue.ts';
import type { CountExceeded } from './limit-counter.ts';

/** Concurrent event streams in one process. A session counts as one key. */
export const streamLimits = { ofKey: 20, ofProject: 100, ofProcess: 1_000 } as const;

/** Limits event streams, so that one key cannot use all streams of its project, and one project not all of the process. */
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
  readonly metrics?: Registry;
}

export function createStreamShares(deps: StreamSharesDeps = {}): StreamShares {
  const { limits = streamLimits, countExceeded } = deps;
  const keys = new Map<string, number>();
  const projects = new Map<string, number>();
  let all = 0;

  function refuse(limit: string, most: number, whose: string): never {
    countExceeded?.(limit);
    throw new Problem(
      'TOO_MANY_REQUESTS',
      `${whose} has ${most} open event streams, which is the maximum. Close some, or poll the status instead.`,
      { retryAfter: 5 },
    );
  }
  if (deps.metrics !== undefined) {
    new Gauge({
      name: 'quartermaster_event_streams',
      help: 'Open event streams of records and runs.',
      registers: [deps.metrics],
      collect() {
        this.set(all);
      },
    });
  }

  return {
    enter({ projectId, keyId }, ended) {
      if (keyId !== null && (keys.get(keyId) ?? 0) >= limits.ofKey)
        refuse('event_streams_of_key', limits.ofKey, 'This key');
      if ((projects.get(projectId) ?? 0) >= limits.ofProject)
        refuse('event_streams_of_project', limits.ofProject, keyId === null ? 'The address' : 'The project');
      if (all >= limits.ofProcess) refuse('event_streams_of_process', limits.ofProcess, 'The service');
      let isInside = true;
      const add = (count: 1 | -1) => {
        all += count;
        change(projects, projectId, count);
        if (keyId !== null) change(keys, keyId, count);
      };
      add(1);
      const leave = () => {
        if (isInside) add(-1);
        isInside = false;
      };
      // A stream that is never read does not run its `finally`, and the client may have disconnected already.
      if (ended.aborted) leave();
      else ended.addEventListener('abort', leave, { once: true });
      return leave;
    },
  };
}

function change(counts: Map<string, number>, name: string, by: number): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
