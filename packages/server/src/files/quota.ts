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
  /** Returns the bytes that the project may still store, for its files and records; null without a limit. */
  bytesLeft(projectId: string): Promise<number | null>;
}

export function createQuota(files: Pick<FileRepository, 'bytesKept'>, limits: FileLimits): Quota {
  const limit = limits.maxProjectBytes;
  return {
    limits,
    bytesLeft: async (projectId) => (limit === null ? null : Math.max(0, limit - (await files.bytesKept(projectId)))),
    async check(projectId, bytes) {
      if (limit === null || bytes === 0) return;
      if ((await files.bytesKept(projectId)) + bytes > limit) throw quotaUsedUp(limit);
    },
  };
}
