import { type Quartermaster, RecordFailedError } from '@quartermaster/client';
import { exitCodes } from '../exit-codes.ts';
import { printError, printJson, say } from '../output/print.ts';
import { createProgressLine } from '../output/progress-line.ts';

export interface RecordWait {
  readonly collectionId: string;
  readonly recordId: string;
  /** Seconds; 0: no limit. */
  readonly timeout: number;
  readonly json: true | undefined;
}

/** Waits until a record is processed and prints it. A failed record sets the exit code 1. */
export async function waitForRecord(qm: Quartermaster, wait: RecordWait): Promise<void> {
  const line = createProgressLine();
  const options = {
    timeout: wait.timeout * 1000,
    onProgress: ({ record_id, status, progress }: Parameters<NonNullable<Progress>>[0]) =>
      line.show(`${record_id}: ${progress === null ? status : `${progress.stage} ${progress.percent} %`}`),
  };
  try {
    const record = await qm.records.wait(wait.collectionId, wait.recordId, options);
    line.clear();
    if (wait.json === true) printJson(record);
    else say(`${record.record_id}  ${record.status}  ${record.num_chunks} chunk${record.num_chunks === 1 ? '' : 's'}`);
  } catch (error) {
    line.clear();
    if (!(error instanceof RecordFailedError)) throw error;
    if (wait.json === true) printJson(error.record);
    else printError(`${wait.recordId}  ${error.code}: ${error.record.error?.message ?? error.record.status}`);
    process.exitCode = exitCodes.failed;
  }
}

type Progress = NonNullable<Parameters<Quartermaster['records']['wait']>[2]>['onProgress'];
