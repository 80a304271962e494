import { type ConnectionOptions, connect } from '../connection/connection.ts';
import { eachItem } from '../each-item.ts';
import { printJson, say, time } from '../output/print.ts';
import { pageSize, printItem, printItems } from '../output/print-items.ts';
import { waitForRecord } from './wait-for-record.ts';

export interface Output extends ConnectionOptions {
  readonly json?: true;
}

export interface ListOptions extends Output {
  readonly limit: number;
}

export interface RecordWaitOptions extends Output {
  /** Seconds; 0: no limit. */
  readonly timeout: number;
}

export async function listRecords(collectionId: string, { limit, ...options }: ListOptions): Promise<void> {
  const qm = await connect(options, 'files');
  await printItems(qm.records.list(collectionId, { limit: pageSize(limit) }), {
    json: options.json,
    limit,
    count: () => qm.records.list(collectionId, { limit: 1, count: true }),
    heads: ['RECORD', 'TITLE', 'TYPE', 'STATUS', 'CHUNKS', 'CREATED'],
    row: (one) => [
      ...[one.record_id, one.title, one.type, one.error?.code ?? one.status, String(one.num_chunks)],
      time(one.created_timestamp),
    ],
  });
}

export async function getRecord(collectionId: string, recordId: string, options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  printItem(await qm.records.get(collectionId, recordId), options.json);
}

export async function waitForOne(
  collectionId: string,
  recordId: string,
  { timeout, ...options }: RecordWaitOptions,
): Promise<void> {
  const qm = await connect(options, 'files');
  await waitForRecord(qm, { collectionId, recordId, timeout, json: options.json });
}

export async function retryRecord(collectionId: string, recordId: string, options: Output): Promise<void> {
  const qm = await connect(options, 'files');
  const record = await qm.records.retry(collectionId, recordId);
  if (options.json === true) printJson(record);
  else say(record.status);
}

export async function deleteRecords(
  collectionId: string,
  recordIds: readonly string[],
  options: Output,
): Promise<void> {
  const qm = await connect(options, 'files');
  await eachItem(recordIds, async (recordId) => {
    await qm.records.delete(collectionId, recordId);
    if (options.json === true) printJson({ record_id: recordId, deleted: true });
  });
}
