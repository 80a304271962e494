import { createHash } from 'node:crypto';
import { type Run, RunItem } from '@quartermaster/contract';
import type { StreamShares } from '../kernel/concurrency/stream-shares.ts';
import { createWakeEvent } from '../kernel/concurrency/wake-event.ts';
import type { RunStore } from './run-store.ts';
import type { Runs } from './runs.ts';

export interface RunEventsDeps {
  readonly runs: Pick<Runs, 'get'>;
  readonly store: Pick<RunStore, 'watch'>;
  readonly shares: StreamShares;
  /** Milliseconds between looks: another process may have the run. */
  readonly pollMs: number;
  /** Milliseconds of silence after which a comment is sent, so that nobody in between closes the connection. */
  readonly heartbeatMs: number;
}

export const eventDefaults = { pollMs: 1_000, heartbeatMs: 15_000 } as const;

export interface RunEvents {
  /**
   * Server-sent events of one run: `state` for what is now and for each change of it, `progress` for what the plugin says
   * of it. Ends after the state in which the run has ended, and early when the signal is aborted.
   * @returns null when whoever asks has had the last event. @throws OBJECT_NOT_FOUND, TOO_MANY_REQUESTS
   */
  follow(wish: FollowOptions, signal: AbortSignal): Promise<AsyncIterable<string> | null>;
  /** Ends every stream. */
  close(): void;
}

export interface FollowOptions {
  readonly projectId: string;
  /** null: without a key. */
  readonly keyId: string | null;
  readonly runId: string;
  /** Of the last event that came, when it is not the first time: it is not sent again. */
  readonly lastEventId?: string | undefined;
}

interface RunEvent {
  readonly id: string;
  readonly text: string;
}

export function createRunEvents(deps: RunEventsDeps): RunEvents {
  const closing = new AbortController();

  async function* stream(wish: FollowOptions, signal: AbortSignal, leave: () => void): AsyncGenerator<string> {
    const wakeEvent = createWakeEvent();
    const watch = deps.store.watch(wish.runId, { changed: wakeEvent.notify, progressed: wakeEvent.notify });
    try {
      let had = wish.lastEventId;
      let [state, progress] = [undefined as string | undefined, undefined as string | undefined];
      let sentAt = performance.now();
      while (!signal.aborted) {
        const run = await deps.runs.get(wish.projectId, wish.runId);
        const now = eventsOf(run);
        const news: RunEvent[] = [];
        // Who has had the progress of this state has had the state before it.
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
    follow: async (wish, signal) => {
      const run = await deps.runs.get(wish.projectId, wish.runId);
      // Once the stream has ended, clients that were cut off in the last moment come again: they are told to stop.
      if (run.status === 'ended' && wish.lastEventId === eventsOf(run).state.id) return null;
      const ended = AbortSignal.any([signal, closing.signal]);
      return stream(wish, ended, deps.shares.enter(wish, ended));
    },
    close: () => closing.abort(),
  };
}

/** What a list says of a run: nothing that changes once it has ended. */
const memberNames = Object.keys(RunItem.properties) as ReadonlyArray<keyof RunItem>; // the keys of that very object

function eventsOf(run: Run): { readonly state: RunEvent; readonly progress: RunEvent | null } {
  const { progress } = run;
  const item = Object.fromEntries(memberNames.map((name) => [name, run[name]]));
  const said = progress === null ? null : toEvent('progress', { run_id: run.run_id, ...progress });
  return { state: toEvent('state', item), progress: said };
}

/** Its id is made of what it says, so it means the same in every process. */
function toEvent(name: 'state' | 'progress', data: object): RunEvent {
  const json = JSON.stringify(data);
  const id = createHash('sha256').update(`${name} ${json}`).digest('base64url').slice(0, 16);
  return { id, text: `id: ${id}\nevent: ${name}\ndata: ${json}\n\n` };
}
