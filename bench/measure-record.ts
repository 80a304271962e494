import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { settledRecord } from '../test/support/client.ts';
import { loopDelay, peakMemory, processorTime, resetPeakMemory, residentMemory, type Service } from './processes.ts';

interface Bench {
  readonly service: Service;
  readonly client: Quartermaster;
  readonly folder: string;
}

interface MeasuredRecord {
  readonly chunks: number;
  readonly seconds: number;
  /** Processor seconds of the service and its children. */
  readonly processorSeconds: number;
  readonly childMb: number;
  readonly growthMb: number;
  readonly loopP99: number;
  readonly peakMb: number;
}

/**
 * Measures a record from a sheet of questions and answers: from the request that creates it to its `ready`, when every pair
 * is on the disk and searchable. The upload of the sheet does not count.
 */
export async function createRecord(
  { service, client, folder }: Bench,
  name: string,
  content: Iterable<string | Uint8Array>,
): Promise<MeasuredRecord> {
  const path = join(folder, name);
  await writeAll(path, content);
  const file = await client.files.upload(await openAsBlob(path), { purpose: 'qa_record_file', name });
  await rm(path);
  const { collection_id: collection } = await client.collections.create({ name, type: 'qa' });
  await loopDelay(service);
  resetPeakMemory(service.pid);
  const before = residentMemory(service.pid);
  const processorBefore = processorTime(service.pid);
  const began = performance.now();
  const { record_id: id } = await client.records.create(collection, { type: 'qa_sheet', file_id: file.file_id });
  const record = await settledRecord(client, collection, id);
  const seconds = (performance.now() - began) / 1000;
  assert.equal(record.status, 'ready', JSON.stringify(record));
  const peakMb = peakMemory(service.pid);
  const measured = {
    chunks: record.num_chunks,
    seconds,
    processorSeconds: processorTime(service.pid) - processorBefore,
    childMb: Number(record.report?.peak_memory_bytes) / 2 ** 20,
    growthMb: peakMb - before,
    loopP99: await loopDelay(service),
    peakMb,
  };
  return measured;
}

async function writeAll(path: string, content: Iterable<string | Uint8Array>): Promise<void> {
  const file = await open(path, 'wx');
  const stream = file.createWriteStream();
  for (const part of content) if (!stream.write(part)) await new Promise((resolve) => stream.once('drain', resolve));
  await new Promise((resolve) => stream.end(resolve));
}
