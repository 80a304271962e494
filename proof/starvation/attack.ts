import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Endings } from '../support/endings.ts';
import type { AttackProgress, AttackStart } from './attack-process.ts';
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
  /** Whether the service has an administrator. Default: none. */
  readonly account?: boolean;
  /** Settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Builds its payload, if that takes long. */
  readonly build?: () => void;
  /**
   * Creates the objects that its requests name.
   * @returns the function that sends one request, and resolves with its outcome when it has ended
   */
  prepare(caller: Caller): Promise<(index: number) => Promise<string>>;
}

/** An attack in a process of its own, because its client would delay the requests that are measured. */
export interface Attacker {
  begin(): void;
  /** The requests so far, for example `200: 3, 429: 17, in flight: 24`; whether one was refused because a queue is full; and whether
   * one was refused or at least half of them are in flight. Otherwise they did not reach the queue. */
  progress(): AttackProgress;
  end(): Promise<void>;
}

/** Resolves when the attack has created its objects. */
export async function startAttacker(start: AttackStart, endings: Endings): Promise<Attacker> {
  const child = fork(new URL('./attack-process.ts', import.meta.url), { detached: true });
  const ended = once(child, 'exit');
  let last: AttackProgress = { outcomes: 'none', wasRefused: false, wasFull: false };
  const end = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  endings.after(end);
  child.send(start);
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  if (ready !== 'ready') throw new Error('the attack could not be prepared');
  child.on('message', (progress) => {
    last = progress as AttackProgress; // written by attack-process.ts
  });
  return { begin: () => child.send('begin'), progress: () => last, end };
}

/** Milliseconds before a refused request is sent again. */
const refusedPause = 500;

/** Sends requests continuously, `width` at a time. @returns a function that describes them */
export function saturate({ width }: Attack, send: (index: number) => Promise<string>, signal: AbortSignal) {
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
  for (let index = 0; index < width; index++) void work(index);
  return (): AttackProgress => ({
    outcomes: [...outcomes, ['in flight', inFlight]].map(([name, count]) => `${name}: ${count}`).join(', '),
    wasRefused: outcomes.has('429'),
    wasFull: outcomes.has('429') || inFlight >= width / 2,
  });
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(/^.*: /, '').slice(0, 60);
}
