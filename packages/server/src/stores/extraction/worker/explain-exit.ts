import { constants } from 'node:os';
import type { ProcessExit } from '../../../platform/processes/supervised-process.ts';
import type { ExtractionOutcome } from '../extraction.ts';
import { ExtractionError } from '../extraction-error.ts';

/**
 * Returns the outcome for the document when a child exits, or an Error when the document cannot be the reason.
 * @param sentInvalid the child was killed because it sent an invalid message
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
  // V8 aborts when its heap is full. A SIGKILL from elsewhere usually means that the machine has no memory left; the
  // kernel may then choose any process.
  const heapFull = /heap out of memory|Allocation failed|Zone Allocation/i.test(printed);
  return heapFull || signal === 'SIGKILL' ? 'memory_limit' : 'parser_crashed';
}
