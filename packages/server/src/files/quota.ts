import type { FileLimits, FileRepository } from './file-repository.ts';
import { quotaUsedUp } from './problems.ts';

/** Bytes and files a project may keep. */
export interface Quota {
  /** For the transaction that adds files: it decides, whatever other processes add meanwhile. */
  readonly limits: FileLimits;
  /**
   * Before bytes are made durable in vain. The number of files is left to `limits`: every upload would cost one more query.
   * @throws RESOURCE_LIMIT_REACHED when a file of `bytes` has no room now
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
