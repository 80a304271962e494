import type { Owner } from './owner.ts';

/** The amounts that all owners, one project and one of its keys hold. */
export interface Shares {
  readonly all: number;
  readonly project: number;
  readonly key: number;
}

/** The counts of one queue in one unit. `testing/share-counts.suite.ts` describes the behaviour of every adapter. */
export interface ShareCounts {
  /** Adds to the amount of an owner. A negative number subtracts. */
  add(owner: Owner, amount: number): void;
  of(owner: Owner): Shares;
}

/**
 * Opens the counts of a queue. Reads are synchronous, because an admission must not wait: an adapter for several nodes adds
 * what the other nodes last reported.
 */
export type OpenShareCounts = (queue: string, unit: 'running' | 'places' | 'size') => ShareCounts;

/** Counts in the memory of this process. */
export const openMemoryCounts: OpenShareCounts = () => {
  const projects = new Map<string | null, { held: number; readonly keys: Map<string | null, number> }>();
  let all = 0;
  return {
    add: ({ projectId, keyId }, amount) => {
      all += amount;
      const project = projects.get(projectId) ?? { held: 0, keys: new Map() };
      project.held += amount;
      const ofKey = (project.keys.get(keyId) ?? 0) + amount;
      if (ofKey === 0) project.keys.delete(keyId);
      else project.keys.set(keyId, ofKey);
      if (project.keys.size === 0) projects.delete(projectId);
      else projects.set(projectId, project);
    },
    of: ({ projectId, keyId }) => {
      const project = projects.get(projectId);
      return { all, project: project?.held ?? 0, key: project?.keys.get(keyId) ?? 0 };
    },
  };
};
