import { createSemaphore, type Semaphore } from '../../kernel/concurrency/semaphore.ts';
import { tooManySignIns } from './problems.ts';

/**
 * Limits the number of concurrent password hashes, because each needs memory. When `queued` requests wait already, a
 * further one is refused with TOO_MANY_REQUESTS.
 */
export function createPasswordSemaphore(permits = 2, queued = 32): Semaphore {
  return createSemaphore({ permits, queue: { length: queued, refuse: () => tooManySignIns(1) } });
}
