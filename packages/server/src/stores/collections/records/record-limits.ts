import type { CountExceeded } from '../../../platform/concurrency/limit-counter.ts';
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
 * Limits on the number of records, checked before a record is added. Concurrent requests may exceed a limit slightly,
 * each by one record. This is harmless, because the limits protect the service from too much work.
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
