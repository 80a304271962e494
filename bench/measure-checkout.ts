import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { connectClient, settledRecord } from '../test/support/client.ts';
import type { ComparedMetric } from './compared-rows.ts';
import { requestBytes, runLoad } from './load.ts';
import { peakMemory, residentMemory, type Service, startService } from './processes.ts';
import { csv, pairs } from './sheets.ts';
import { smallUpload, streamUpload } from './upload-client.ts';

/** The compared figures in the order of the table. */
export const comparedMetrics: readonly ComparedMetric[] = [
  { name: 'start', unit: 'ms', better: 'lower' },
  { name: 'idle memory', unit: 'MiB', better: 'lower' },
  { name: 'peak memory', unit: 'MiB', better: 'lower' },
  { name: 'uploads of 8 KiB, 32 connections', unit: '/s', better: 'higher' },
  { name: 'upload of 1 GiB', unit: 'MiB/s', better: 'higher' },
  { name: 'execute T1, 1 connection', unit: '/s', better: 'higher' },
  { name: 'execute T1, 32 connections', unit: '/s', better: 'higher' },
  { name: 'list of plugins, 32 connections', unit: '/s', better: 'higher' },
  { name: 'list of bundles, 32 connections', unit: '/s', better: 'higher' },
  { name: 'list of files, 32 connections', unit: '/s', better: 'higher' },
  { name: 'CSV import', unit: 'rows/s', better: 'higher' },
  { name: 'question', unit: 'ms', better: 'lower' },
];

type Figures = Map<string, number>;
type Measurement = (service: Service, figures: Figures) => Promise<void>;

const seconds = 2;
const mebibyte = 1024 * 1024;
const importedRows = 20_000;
const questions = 100;
/** Milliseconds after which an idle service has finished the work that follows its start. */
const settleMs = 4_000;

/** Each measurement takes a few seconds. `start` (ready, idle memory) is always measured. */
const measurements: Readonly<Record<string, Measurement>> = {
  uploads: measureSmallUploads,
  gibibyte: measureLargeUpload,
  execute: measureExecute,
  lists: measureLists,
  records: measureRecords,
};

/**
 * Measures one checkout once, with a new service on a new data folder.
 * @param only names of measurements; empty: all
 */
export async function measureCheckout(root: string, data: string, only: readonly string[]): Promise<Figures> {
  const figures: Figures = new Map();
  const began = performance.now();
  const service = await startService(data, { QUARTERMASTER_LOG_LEVEL: 'warn' }, root);
  try {
    figures.set('start', performance.now() - began);
    await pause(settleMs);
    figures.set('idle memory', residentMemory(service.pid));
    for (const [name, measure] of Object.entries(measurements)) {
      if (only.length === 0 || only.includes(name)) await measure(service, figures);
    }
    figures.set('peak memory', peakMemory(service.pid));
  } finally {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
    rmSync(`${data}.log`, { force: true });
  }
  return figures;
}

async function measureSmallUploads(service: Service, figures: Figures): Promise<void> {
  const content = Buffer.from(randomBytes(4096).toString('hex'));
  const measured = await runLoad({
    ...{ url: service.filesUrl, request: smallUpload(service.key, content), stamp: content.subarray(0, 16) },
    ...{ connections: 32, seconds: 4 },
  });
  assert.equal(measured.failures, 0);
  figures.set('uploads of 8 KiB, 32 connections', measured.perSecond);
}

async function measureLargeUpload(service: Service, figures: Figures): Promise<void> {
  const block = Buffer.from(randomBytes(2 * mebibyte).toString('hex'));
  const upload = await streamUpload(service.filesUrl, service.key, { bytes: 1024 * mebibyte, block });
  assert.equal(upload.status, 200);
  figures.set('upload of 1 GiB', 1024 / upload.seconds);
}

async function measureExecute(service: Service, figures: Figures): Promise<void> {
  const body = JSON.stringify({
    ...{ bundle_id: 'arithmetic', plugin_id: 'add', input_params: { number_1: 1, number_2: 2 }, credentials: {} },
  });
  const headers = { Host: new URL(service.pluginsUrl).host, 'Content-Type': 'application/json' };
  const request = requestBytes('POST', '/v1/execute', { headers, body });
  for (const connections of [1, 32]) {
    const measured = await runLoad({ url: service.pluginsUrl, request, connections, seconds });
    assert.equal(measured.failures, 0);
    figures.set(`execute T1, ${connections} connection${connections === 1 ? '' : 's'}`, measured.perSecond);
  }
}

async function measureLists(service: Service, figures: Figures): Promise<void> {
  const lists = {
    plugins: [service.pluginsUrl, '/v1/plugins'],
    bundles: [service.pluginsUrl, '/v1/bundles'],
    files: [service.filesUrl, '/v1/files'],
  } as const;
  for (const [name, [url, path]] of Object.entries(lists)) {
    const headers = { Host: new URL(url).host, Authorization: `Bearer ${service.key}` };
    const request = requestBytes('GET', path, { headers });
    const measured = await runLoad({ url, request, connections: 32, seconds });
    assert.equal(measured.failures, 0);
    figures.set(`list of ${name}, 32 connections`, measured.perSecond);
  }
}

/** Creates a record from a sheet of questions and answers, and then asks questions from the sheet one after another. */
async function measureRecords(service: Service, figures: Figures): Promise<void> {
  const client = connectClient(service, service.key);
  const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
  const content = new Blob([[...csv(importedRows)].join('')]);
  const { file_id } = await client.files.upload(content, { purpose: 'qa_record_file', name: 'pairs.csv' });
  const began = performance.now();
  const { record_id } = await client.records.create(collection, { type: 'qa_sheet', file_id });
  const record = await settledRecord(client, collection, record_id);
  figures.set('CSV import', importedRows / ((performance.now() - began) / 1000));
  assert.equal(record.num_chunks, importedRows);
  const times: number[] = [];
  for (const [question] of pairs(questions)) {
    const askedAt = performance.now();
    const found = await client.search(collection, { query_text: question, top_k: 3 });
    times.push(performance.now() - askedAt);
    assert.equal(found.length, 3);
  }
  figures.set('question', times.sort((a, b) => a - b)[Math.floor(questions / 2)] ?? Number.NaN);
}
