import { createHash } from 'node:crypto';
import { type Run, RunItem } from '@quartermaster/contract';
import type { StreamShares } from '../../platform/admission/stream-shares.ts';
import { createWakeEvent } from '../../platform/concurrency/wake-event.ts';
import type { RunReader } from '../execution/background.ts';
import type { RunStore } from './run-store.ts';
import type { Runs } from './runs.ts';

export interface RunEventsDeps {
  readonly runs: Pick<Runs, 'get'>;
  readonly store: Pick<RunStore, 'watch'>;
  readonly shares: StreamShares;
  /** Milliseconds between database reads, because another process may execute the run. */
  readonly pollMs: number;
  /** Milliseconds of silence after which a comment is sent, so that no proxy closes the connection. */
  readonly heartbeatMs: number;
}

export const eventDefaults = { pollMs: 1_000, heartbeatMs: 15_000 } as const;

export interface RunEvents {
  /**
   * Streams the events of one run as server-sent events: `state` for the current state and each change, `progress` for reports of
   * the plugin. The stream ends after the final state, or when the signal is aborted.
   * @returns null when the client has already received the last event. @throws OBJECT_NOT_FOUND, TOO_MANY_REQUESTS
   */
  follow(options: FollowOptions, signal: AbortSignal): Promise<AsyncIterable<string> | null>;
  /** Ends every stream. */
  close(): void;
}

export interface FollowOptions extends RunReader {
  /** null when the caller has no API key. */
  readonly keyId: string | null;
  readonly runId: string;
  /** The id of the last event that a reconnecting client received. That event is not sent again. */
  readonly lastEventId?: string | undefined;
}

interface RunEvent {
  readonly id: string;
  readonly text: string;
}

export function createRunEvents(deps: RunEventsDeps): RunEvents {
  const closing = new AbortController();

  async function* stream(options: FollowOptions, signal: AbortSignal, leave: () => void): AsyncGenerator<string> {
    const wakeEvent = createWakeEvent();
    const watch = deps.store.watch(options.runId, { changed: wakeEvent.notify, progressed: wakeEvent.notify });
    try {
      let had = options.lastEventId;
      let [state, progress] = [undefined as string | undefined, undefined as string | undefined];
      let sentAt = performance.now();
      while (!signal.aborted) {
        const run = await deps.runs.get(options, options.runId);
        const now = eventsOf(run);
        const news: RunEvent[] = [];
        // A client that received the progress of this state has received the state before it.
        const isKnown = had !== undefined && [now.state.id, now.progress?.id].includes(had);
        if (now.state.id !== state && !isKnown) news.push(now.state);
        if (now.progress !== null && now.progress.id !== progress && had !== now.progress.id) news.push(now.progress);
        [state, progress, had] = [now.state.id, now.progress?.id ?? progress, undefined];
        for (const { text } of news) yield text;
        if (news.length > 0) sentAt = performance.now();
        else if (performance.now() - sentAt >= deps.heartbeatMs) {
          yield ': still here\n\n';
          sentAt = performance.now();
        }
        if (run.status === 'ended') return;
        await wakeEvent.wait(deps.pollMs, signal);
      }
    } finally {
      watch.stop();
      leave();
    }
  }

  return {
    follow: async (options, signal) => {
      const run = await deps.runs.get(options, options.runId);
      // A client that was disconnected just before the end reconnects. null makes it stop.
      if (run.status === 'ended' && options.lastEventId === eventsOf(run).state.id) return null;
      const ended = AbortSignal.any([signal, closing.signal]);
      return stream(options, ended, deps.shares.enter(options, ended));
    },
    close: () => closing.abort(),
  };
}

/** The members of a run in a list. None of them changes after the run has ended. */
const memberNames = Object.keys(RunItem.properties) as ReadonlyArray<keyof RunItem>; // the keys of that very object

function eventsOf(run: Run): { readonly state: RunEvent; readonly progress: RunEvent | null } {
  const { progress } = run;
  const item = Object.fromEntries(memberNames.map((name) => [name, run[name]]));
  const event = progress === null ? null : toEvent('progress', { run_id: run.run_id, ...progress });
  return { state: toEvent('state', item), progress: event };
}

/** The id is a digest of the content, so every process computes the same id. */
function toEvent(name: 'state' | 'progress', data: object): RunEvent {
  const json = JSON.stringify(data);
  const id = createHash('sha256').update(`${name} ${json}`).digest('base64url').slice(0, 16);
  return { id, text: `id: ${id}\nevent: ${name}\ndata: ${json}\n\n` };
}
