import { createSemaphore, type Semaphore } from '../../kernel/concurrency/semaphore.ts';
import { tooManySignIns } from './problems.ts';

/**
 * Limits how many password hashes are computed at the same time, because each takes memory. Of those that would wait
 * behind `queued` others, each is refused with TOO_MANY_REQUESTS.
 */
export function createPasswordSemaphore(permits = 2, queued = 32): Semaphore {
  return createSemaphore({ permits, queue: { length: queued, refuse: () => tooManySignIns(1) } });
}
