import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Quartermaster } from '@quartermaster/client';
import { connectClient, settledRecord } from '../test/support/client.ts';
import {
  loopDelay,
  peakMemory,
  processorTime,
  resetPeakMemory,
  residentMemory,
  type Service,
  startService,
} from './processes.ts';
import { csv, xlsx } from './sheets.ts';
import type { Row } from './table.ts';

const bars = { csvRate: 12_500, xlsxRate: 15_000, childMb: 512, growthMb: 32 };
const sheetRows = { warm: 5_000, csv: 100_000, xlsx: 100_000, long: 1_000_000 };

/**
 * Measures records from sheets of questions and answers: from the request that creates the record to its `ready`, when
 * every pair is on the disk and searchable. The upload of the sheet does not count.
 */
export async function recordBenches(folder: string): Promise<Row[]> {
  await mkdir(folder, { recursive: true });
  const service = await startService(join(folder, 'data'), { QUARTERMASTER_LOG_LEVEL: 'warn' });
  const client = connectClient(service, service.key);
  const bench = { service, client, folder };
  try {
    await createRecord(bench, 'warm.csv', csv(sheetRows.warm));
    const csvRecord = await createRecord(bench, 'pairs.csv', csv(sheetRows.csv));
    const sheet = await createRecord(bench, 'pairs.xlsx', [xlsx(sheetRows.xlsx)]);
    const long = await createRecord(bench, 'long.csv', csv(sheetRows.long));
    return [
      rateRow(`CSV of ${sheetRows.csv.toLocaleString('en')} pairs`, csvRecord, bars.csvRate),
      rateRow(`XLSX of ${sheetRows.xlsx.toLocaleString('en')} rows`, sheet, bars.xlsxRate),
      memoryRow(`CSV of ${sheetRows.long.toLocaleString('en')} pairs`, long),
    ];
  } finally {
    await service.stop();
  }
}

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

function rateRow(bench: string, measured: MeasuredRecord, bar: number): Row {
  const rate = measured.chunks / measured.seconds;
  return {
    bench,
    ours: `${rate.toFixed(0)} pairs/s, child ${measured.childMb.toFixed(0)} MiB`,
    floor: `${((measured.processorSeconds / measured.chunks) * 1e6).toFixed(0)} µs of processor a pair; load ${loadavg()[0]?.toFixed(1)}`,
    bar: `≥ ${bar.toLocaleString('en')}/s`,
    met: rate >= bar,
    loopP99: measured.loopP99,
    peakMb: measured.peakMb,
  };
}

function memoryRow(bench: string, measured: MeasuredRecord): Row {
  return {
    bench,
    ours: `child ${measured.childMb.toFixed(0)} MiB, server +${measured.growthMb.toFixed(0)} MiB, ${(measured.chunks / measured.seconds).toFixed(0)} pairs/s`,
    floor: `${((measured.processorSeconds / measured.chunks) * 1e6).toFixed(0)} µs of processor a pair; load ${loadavg()[0]?.toFixed(1)}`,
    bar: `child ≤ ${bars.childMb} MiB; server ≤ +${bars.growthMb} MiB`,
    met: measured.childMb <= bars.childMb && measured.growthMb <= bars.growthMb,
    loopP99: measured.loopP99,
    peakMb: measured.peakMb,
  };
}
