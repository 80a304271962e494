import { setTimeout } from 'node:timers/promises';
import type { Logger } from '../kernel/log/logger.ts';
import type { RunEnd, RunKey, RunRepository, StoredResult } from './run-repository.ts';

interface Ended {
  readonly owner: string;
  readonly end: RunEnd;
  readonly result: StoredResult | null;
}

const firstPauseMs = 250;
const longestPauseMs = 15_000;

/**
 * Stores the end of an asynchronous run; a database that is away does not lose it. Never rejects. When the signal is
 * aborted it tries once more: whoever takes the run over then ends it.
 */
export async function storeEnd(
  { repository, logger, signal }: { repository: Pick<RunRepository, 'end'>; logger: Logger; signal: AbortSignal },
  key: RunKey,
  ended: Ended,
): Promise<void> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const isLast = signal.aborted;
    try {
      const isStored = await repository.end(key, ended);
      // This process was held up for so long that another one has taken the run over.
      if (!isStored) logger.warn({ run_id: key.id }, 'a run ended that another process has taken over');
      return;
    } catch (error) {
      logger.warn({ err: error, run_id: key.id }, 'the end of a run could not be stored');
      if (isLast) return;
      await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
