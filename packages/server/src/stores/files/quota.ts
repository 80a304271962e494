import type { FileLimits, FileRepository } from './file-repository.ts';
import { quotaUsedUp } from './problems.ts';

/** The bytes and files that a project may store. */
export interface Quota {
  /** The limits for the transaction that adds files. They hold for concurrent uploads of other processes too. */
  readonly limits: FileLimits;
  /**
   * Checks the bytes early, before they are made durable needlessly. The number of files is left to `limits`, because
   * it would cost one more query per upload.
   * @throws RESOURCE_LIMIT_REACHED when a file of `bytes` does not fit now
   */
  check(projectId: string, bytes: number): Promise<void>;
}

export function createQuota(files: Pick<FileRepository, 'bytesKept'>, limits: FileLimits): Quota {
  const limit = limits.maxProjectBytes;
  return {
    limits,
    async check(projectId, bytes) {
      if (limit === null || bytes === 0) return;
      if ((await files.bytesKept(projectId)) + bytes > limit) throw quotaUsedUp(limit);
    },
  };
}
