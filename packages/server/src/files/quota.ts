import type { FileRepository } from './file-repository.ts';
import { quotaUsedUp } from './problems.ts';

/** Bytes a project may keep. What is kept and what is on its way together never exceed the limit. */
export interface Quota {
  /** Throws RESOURCE_LIMIT_REACHED when a file of `bytes` has no room. Give the reservation back when it is over. */
  reserve(projectId: string, bytes: number): Promise<Reservation>;
}

export interface Reservation {
  release(): void;
}

/**
 * `limit` null: no quota. Bytes are counted by the database each time, so that several processes agree; what runs in
 * this one is added to it. A file that is committed and not yet released counts twice for that moment: never too little.
 */
export function createQuota(files: FileRepository, limit: number | null): Quota {
  const reserved = new Map<string, number>();
  function add(projectId: string, bytes: number): void {
    const total = (reserved.get(projectId) ?? 0) + bytes;
    if (total === 0) reserved.delete(projectId);
    else reserved.set(projectId, total);
  }
  return {
    async reserve(projectId, bytes) {
      if (limit === null) return { release() {} };
      add(projectId, bytes);
      let held = bytes;
      const release = () => {
        add(projectId, -held);
        held = 0;
      };
      try {
        // Read before the database: a file committed meanwhile is in one of the two for certain.
        const onTheWay = reserved.get(projectId) ?? 0;
        const kept = await files.bytesKept(projectId);
        if (kept + onTheWay > limit) throw quotaUsedUp(limit);
        return { release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}
