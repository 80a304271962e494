import { tooManyRunsOfKey } from './problems.ts';

/** Limits the runs of one key that wait or run at the same time, so that one key cannot block the others. */
export interface RunAdmission {
  /** Performs the work as a run of this key. Throws TOO_MANY_REQUESTS at the limit. Without a key the run is not counted. */
  admit<T>(keyId: string | undefined, work: () => Promise<T>): Promise<T>;
}

export function createRunAdmission(most: number): RunAdmission {
  const counts = new Map<string, number>();
  return {
    admit: async (keyId, work) => {
      if (keyId === undefined) return await work();
      const count = counts.get(keyId) ?? 0;
      if (count >= most) throw tooManyRunsOfKey(most);
      counts.set(keyId, count + 1);
      try {
        return await work();
      } finally {
        const remaining = (counts.get(keyId) ?? 0) - 1;
        if (remaining > 0) counts.set(keyId, remaining);
        else counts.delete(keyId);
      }
    },
  };
}
