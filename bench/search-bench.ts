import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connectClient, settledRecord } from '../test/support/client.ts';
import { requestBytes, runLoad } from './load.ts';
import { ownProcessorTime, residentMemory, type Service, startService } from './processes.ts';
import { createText } from './real-words.ts';
import { csv } from './sheets.ts';
import type { Row } from './table.ts';

const sizes = [1_000, 10_000, 100_000];
const manyConnections = [1, 4, 32];
const seconds = 4;
const wordsOfQuestion = 6;
/** A number in each question makes all questions different. */
const stamp = Buffer.from('0'.repeat(16));
const settings = { QUARTERMASTER_LOG_LEVEL: 'warn' };

/** Measures questions by words in SQLite: several sizes of a collection and numbers of connections. */
export async function searchBenches(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const size of sizes) rows.push(...(await measureSize(join(folder, String(size)), size)));
  return rows;
}

async function measureSize(data: string, size: number): Promise<Row[]> {
  const rows: Row[] = [];
  const service = await startService(data, settings);
  let collection: string;
  try {
    collection = await importPairs(service, size);
    for (const connections of manyConnections) rows.push(await measureLoad(service, { collection, size, connections }));
  } finally {
    await service.stop();
  }
  rows.push(await measureRestart(data, { collection, size }));
  return rows;
}

async function importPairs(service: Service, size: number): Promise<string> {
  const client = connectClient(service, service.key);
  const content = new Blob([[...csv(size)].join('')]);
  const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
  const { file_id } = await client.files.upload(content, { purpose: 'qa_record_file', name: 'pairs.csv' });
  const { record_id } = await client.records.create(collection, { type: 'qa_sheet', file_id });
  assert.equal((await settledRecord(client, collection, record_id)).num_chunks, size);
  return collection;
}

interface Asked {
  readonly collection: string;
  readonly size: number;
}

async function measureLoad(service: Service, { collection, size, connections }: Asked & { connections: number }) {
  const request = questionBytes(service, collection);
  const before = ownProcessorTime(service.pid);
  const began = performance.now();
  const measured = await runLoad({ url: service.filesUrl, request, stamp, connections, seconds });
  assert.equal(measured.failures, 0);
  // The load includes a short warm-up, which the rate does not count.
  const questions = measured.perSecond * ((performance.now() - began) / 1000);
  const cost = ((ownProcessorTime(service.pid) - before) * 1000) / questions;
  return {
    bench: `search, ${size} chunks, ${connections} connections`,
    ours: `p50 ${measured.p50.toFixed(2)} p99 ${measured.p99.toFixed(1)} ms, ${measured.perSecond.toFixed(0)}/s`,
    floor: `${cost.toFixed(2)} ms of processor each; load ${loadavg()[0]?.toFixed(1)}`,
    bar: '–',
    met: true,
  };
}

function questionBytes(service: Service, collection: string): Buffer {
  const body = JSON.stringify({ query_text: `${createText()(wordsOfQuestion)} ${stamp}`, top_k: 5 });
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
  return requestBytes('POST', `/v1/collections/${collection}/chunks/query`, { headers, body });
}

/** Measures the first question after a start, and the size of the index. */
async function measureRestart(data: string, { collection, size }: Asked): Promise<Row> {
  const service = await startService(data, settings);
  try {
    const client = connectClient(service, service.key);
    await client.collections.list();
    const began = performance.now();
    const found = await client.search(collection, { query_text: createText()(wordsOfQuestion), top_k: 5 });
    const first = performance.now() - began;
    assert.equal(found.length, 5);
    const memory = residentMemory(service.pid);
    return {
      bench: `search, ${size} chunks, after a start`,
      ours: `first question ${first.toFixed(0)} ms, ${memory.toFixed(0)} MiB`,
      floor: `index ${(indexBytes(data) / size).toFixed(0)} bytes a chunk`,
      bar: '≤ 130 bytes a chunk',
      met: indexBytes(data) / size <= 130,
    };
  } finally {
    await service.stop();
  }
}

function indexBytes(data: string): number {
  using database = new DatabaseSync(join(data, 'quartermaster.db'), { readOnly: true });
  const sum = (sql: string) => Number(database.prepare(sql).get()?.bytes);
  const pages = sum('select sum(length(data)) as bytes from index_page');
  return pages + sum("select sum(length(header)) as bytes from index_segment where state = 'live'");
}
