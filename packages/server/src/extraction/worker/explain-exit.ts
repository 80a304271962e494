import { constants } from 'node:os';
import type { ProcessExit } from '../../processes/supervised-process.ts';
import type { ExtractionOutcome } from '../extraction.ts';
import { ExtractionError } from '../extraction-error.ts';

/**
 * What the end of a child says about its document; an Error when the document cannot be the reason.
 * @param sentInvalid it was killed because it sent a message that a reader of ours does not send
 */
export function explainExit(exit: ProcessExit, sentInvalid: boolean): ExtractionOutcome | Error {
  const { code, wasReady, printed } = exit;
  const signal = exit.signal ?? reportedSignal(code);
  if (!wasReady) return new Error(`a process that reads documents did not start (${signal ?? code}): ${printed}`);
  const { code: why, message } = new ExtractionError(sentInvalid ? 'parser_crashed' : failureCode(signal, printed));
  const failure = { kind: 'failed', code: why, message, report: null } as const;
  return signal === 'SIGKILL' && !sentInvalid ? { ...failure, killed: true } : failure;
}

/** Bubblewrap reports the signal that ended its child as a code above 128. */
function reportedSignal(code: number | null): string | null {
  const number = (code ?? 0) - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

function failureCode(signal: string | null, printed: string) {
  if (signal === 'SIGXCPU') return 'time_limit';
  // V8 aborts when its heap is full; a kill that is not ours comes from the kernel when the machine has no memory left,
  // and then any process may be the one that it takes.
  const heapFull = /heap out of memory|Allocation failed|Zone Allocation/i.test(printed);
  return heapFull || signal === 'SIGKILL' ? 'memory_limit' : 'parser_crashed';
}
