import { constants } from 'node:os';
import type { ExtractionOutcome } from './extraction.ts';
import { Unreadable } from './unreadable.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last of what it printed. */
  readonly stderr: string;
  /** Whether it ever said that it is ready. */
  readonly ready: boolean;
  /** It was killed because it sent a message that a reader of ours does not send. */
  readonly sentInvalid: boolean;
}

/** What the end of a child says about its document; an Error when the document cannot be the reason. */
export function explainExit({ code, signal: own, stderr, ready, sentInvalid }: Exit): ExtractionOutcome | Error {
  const signal = own ?? reportedSignal(code);
  if (!ready) return new Error(`a process that reads documents did not start (${signal ?? code}): ${stderr}`);
  const { code: why, message } = new Unreadable(sentInvalid ? 'parser_crashed' : failureCode(signal, stderr));
  const failure = { kind: 'failed', code: why, message, report: null } as const;
  return signal === 'SIGKILL' && !sentInvalid ? { ...failure, killed: true } : failure;
}

/** Bubblewrap reports the signal that ended its child as a code above 128. */
function reportedSignal(code: number | null): string | null {
  const number = (code ?? 0) - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

function failureCode(signal: string | null, stderr: string) {
  if (signal === 'SIGXCPU') return 'time_limit';
  // V8 aborts when its heap is full; a kill that is not ours comes from the kernel when the machine has no memory left,
  // and then any process may be the one that it takes.
  const heapFull = /heap out of memory|Allocation failed|Zone Allocation/i.test(stderr);
  return heapFull || signal === 'SIGKILL' ? 'memory_limit' : 'parser_crashed';
}
