import type { Admission } from '../../platform/admission/admission.ts';
import type { Owner } from '../../platform/admission/owner.ts';
import { tooManyRuns } from './problems.ts';

/** Limits the runs that callers wait for, by project and key, so that one caller cannot block the others. */
export interface RunAdmission {
  /** Performs the work as a run of this owner. Throws TOO_MANY_REQUESTS at the limit. */
  admit<T>(owner: Owner, work: () => Promise<T>): Promise<T>;
}

/** @param ofKey the maximum number of runs of a key while no other key has a run: a quarter of all */
export function createRunAdmission(ofKey: number, admission: Admission): RunAdmission {
  const runs = admission.places('runs', { places: 4 * ofKey, refuse: tooManyRuns });
  return {
    admit: async (owner, work) => {
      const leave = runs.enter(owner);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
