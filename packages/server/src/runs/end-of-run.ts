import { resultOf } from '../execution/answers.ts';
import type { Execution } from '../execution/outcome.ts';
import type { BackgroundRun } from './background-run.ts';
import { toRunEnd } from './ended-run.ts';
import { interruptedEnd } from './interruptions.ts';
import type { RunEnd, StoredResult } from './run-repository.ts';

export interface EndKeeping {
  /** The project wants inputs kept. */
  readonly keepsInput: boolean;
  /** Of the result. */
  readonly expiresAt: number;
}

/** What is stored of an asynchronous run that has ended, or was cut off by a stop. */
export function endOf(
  run: BackgroundRun,
  execution: Execution,
  { keepsInput, expiresAt }: EndKeeping,
): { end: RunEnd; result: StoredResult | null } {
  const { hasBegun, prepared, told } = run;
  const { kind } = execution.outcome;
  if (kind === 'cancelled' && told === 'stopping') {
    const reason = hasBegun && !prepared.isRepeatable ? 'may_have_acted' : 'credentials_not_kept';
    return { end: interruptedEnd(reason, hasBegun), result: null };
  }
  // The words of a failure are the answer, which has no other place.
  const end = toRunEnd(prepared.run, execution, { words: true, input: keepsInput });
  return { end, result: kind === 'succeeded' ? { result: resultOf(execution), expiresAt } : null };
}
