import type { ExtractionOutcome } from './extraction.ts';
import { Unreadable } from './unreadable.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last of what it printed. */
  readonly stderr: string;
  /** Whether it ever said that it is ready. */
  readonly ready: boolean;
}

/** What the end of a child says about its document; an Error when the document cannot be the reason. */
export function explainExit({ code, signal, stderr, ready }: Exit): ExtractionOutcome | Error {
  if (!ready) return new Error(`a process that reads documents did not start (${signal ?? code}): ${stderr}`);
  const { code: why, message } = new Unreadable(failureCode(signal, stderr));
  const failure = { kind: 'failed', code: why, message, report: null } as const;
  return signal === 'SIGKILL' ? { ...failure, killed: true } : failure;
}

function failureCode(signal: string | null, stderr: string) {
  if (signal === 'SIGXCPU') return 'time_limit';
  // V8 aborts when its heap is full; a kill that is not ours comes from the kernel when the machine has no memory left,
  // and then any process may be the one that it takes.
  const heapFull = /heap out of memory|Allocation failed|Zone Allocation/i.test(stderr);
  return heapFull || signal === 'SIGKILL' ? 'memory_limit' : 'parser_crashed';
}
