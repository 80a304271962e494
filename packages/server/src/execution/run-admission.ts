import { tooManyRunsOfKey } from './problems.ts';

/** How many runs a key may have at once, waiting or running: one that asks for many leaves room for the others. */
export interface RunAdmission {
  /** Does the work of a run of this key. Throws TOO_MANY_REQUESTS; undefined: a run without a key is not counted. */
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
        const left = (counts.get(keyId) ?? 0) - 1;
        if (left > 0) counts.set(keyId, left);
        else counts.delete(keyId);
      }
    },
  };
}
