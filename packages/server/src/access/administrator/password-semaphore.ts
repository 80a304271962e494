import type { Admission } from '../../platform/admission/admission.ts';
import { tooManySignIns } from './problems.ts';

/**
 * Limits the number of concurrent password hashes, because each needs memory. A sign-in waits in the share of its address, so
 * that guesses from one address do not delay others; work of a signed-in administrator is never refused.
 */
export interface PasswordSemaphore {
  /**
   * @param address of the client that signs in
   * @throws Problem TOO_MANY_REQUESTS
   */
  run<T>(task: () => Promise<T>, address?: string): Promise<T>;
}

export function createPasswordSemaphore(admission: Admission): PasswordSemaphore {
  const queue = admission.queue('passwords', { refuse: () => tooManySignIns(1) });
  return {
    async run(task, address) {
      const owner = { projectId: address ?? '-', keyId: null };
      const end = await queue.acquire(owner, { isAccepted: address === undefined });
      try {
        return await task();
      } finally {
        end?.();
      }
    },
  };
}
