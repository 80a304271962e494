import type { CountExceeded } from '../../kernel/concurrency/limit-counter.ts';
import type { CollectionLimits } from '../collections.ts';
import { tooManyRecords, tooManyWaiting } from '../problems.ts';
import type { RecordRepository } from './record-repository.ts';

export interface RecordLimitsDeps {
  readonly records: Pick<RecordRepository, 'areWaiting'>;
  readonly limits: Pick<CollectionLimits, 'records' | 'waitingRecords'>;
  /** Counts refused requests. Absent: they are not counted. */
  readonly countExceeded?: CountExceeded | undefined;
}

/**
 * Limits on the number of records, checked before a record is added. Requests at the same moment may together exceed them by their
 * number: the limits bound the work of the service, which does not depend on the exact number.
 */
export interface RecordLimits {
  /** @throws Problem RESOURCE_LIMIT_REACHED when the collection has its maximum of records */
  checkNumber(numRecords: number): void;
  /** @throws Problem RESOURCE_LIMIT_REACHED when no further record of the project may wait */
  checkWaiting(projectId: string): Promise<void>;
}

export function createRecordLimits({ records, limits, countExceeded }: RecordLimitsDeps): RecordLimits {
  return {
    checkNumber(numRecords) {
      if (numRecords < limits.records) return;
      countExceeded?.('records_of_collection');
      throw tooManyRecords(limits.records);
    },
    async checkWaiting(projectId) {
      if (!(await records.areWaiting(projectId, limits.waitingRecords))) return;
      countExceeded?.('waiting_records');
      throw tooManyWaiting(limits.waitingRecords);
    },
  };
}
