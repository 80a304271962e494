import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { createVectors } from '../../packages/server/src/stores/search/vector-codes/testing/random-vectors.fixture.ts';
import { connectClient } from '../../test/support/client.ts';
import { startEmbeddingService } from '../../test/support/embedding-service.ts';
import { requestBytes, runLoad } from '../load.ts';
import { ownProcessorTime, type Service, startService } from '../processes.ts';
import { importSheet } from '../search/searched-service.ts';
import type { Row } from '../table.ts';

const questions = 100;
const seconds = 5;
const rowsPerSheet = 20_000;
/** Milliseconds of processor time that a question may take, by dimensions, HTTP included. */
const mostProcessorMs = (dimensions: number) => (dimensions > 384 ? 6 : 3);
const mostP50 = 60;
const mostBytes = 1.25;

interface ServiceSize {
  readonly count: number;
  readonly dimensions: number;
}

/** Imports pairs with vectors like those of a model, and measures the first question after a start and others over HTTP. */
export async function measureService(folder: string, { count, dimensions }: ServiceSize): Promise<Row[]> {
  const { vectors, queries } = createVectors('topics', { count, dimensions });
  const asked = queries(questions);
  const ends: Array<() => unknown> = [];
  const embed = (text: string) => {
    const number = Number(/\d+/.exec(text)?.[0]);
    const vector = text.startsWith('question') ? asked[number] : vectors[number];
    return Array.from(vector ?? [], (value) => Math.round(value * 1e5) / 1e5);
  };
  const { url } = await startEmbeddingService({ after: (end) => void ends.push(end) }, { embed });
  const data = join(folder, `service-${count}-${dimensions}`);
  const settings = {
    ...{ QUARTERMASTER_EMBEDDING_PROVIDER: 'openai', QUARTERMASTER_EMBEDDING_URL: url },
    ...{ QUARTERMASTER_LOG_LEVEL: 'warn' },
  };
  const rows: Row[] = [];
  try {
    const collection = await importPairs(await startService(data, settings), data, count);
    const perVector = measureStore(data).bytes / count / (dimensions * 4);
    rows.push({
      bench: `vectors on disk ${count} x ${dimensions}`,
      ours: `${perVector.toFixed(2)} x the raw vector`,
      ...{ floor: '1', bar: `${mostBytes}`, met: perVector <= mostBytes },
    });
    const service = await startService(data, settings);
    try {
      const row = await askService(service, collection);
      const most = mostProcessorMs(dimensions);
      rows.push({
        bench: `vectors over HTTP ${count} x ${dimensions}`,
        ours: `${row.processorMs.toFixed(1)} ms, p50 ${row.p50.toFixed(1)} ms, 32 connections ${row.many.p50.toFixed(0)} ms, ${row.many.perSecond.toFixed(0)}/s, first ${row.first.toFixed(0)} ms`,
        ...{ floor: '', bar: `${most.toFixed(1)} ms`, met: row.processorMs <= most && row.many.p50 <= mostP50 },
      });
    } finally {
      await service.stop();
    }
  } finally {
    for (const end of ends) end();
  }
  return rows;
}

async function importPairs(service: Service, data: string, count: number): Promise<string> {
  try {
    const client = connectClient(service, service.key);
    const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
    for (let from = 0; from < count; from += rowsPerSheet) {
      const rows = Math.min(rowsPerSheet, count - from);
      const lines = Array.from({ length: rows }, (_, n) => `pair ${from + n},The answer of pair ${from + n}.`);
      await importSheet(service, { collection, csv: ['question,answer', ...lines].join('\n'), rows });
    }
    while (measureStore(data).embedded < count) await pause(500);
    return collection;
  } finally {
    await service.stop();
  }
}

/** Returns the bytes of vectors and their number. */
function measureStore(data: string) {
  using database = new DatabaseSync(join(data, 'quartermaster.db'), { readOnly: true, timeout: 10_000 });
  const value = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
  return {
    embedded: value('select coalesce(sum(num_embedded), 0) from collection_vector'),
    bytes: value(`select sum(pgsize) from dbstat where name like '%chunk_vector%'`),
  };
}

async function askService(service: Service, collection: string) {
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
  const path = `/v1/collections/${collection}/chunks/query`;
  const bodies = Array.from({ length: questions }, (_, n) => JSON.stringify({ query_text: `question ${n}`, top_k: 5 }));
  const request = bodies.map((body) => requestBytes('POST', path, { headers, body }));
  const began = performance.now();
  await fetch(service.filesUrl + path, { method: 'POST', headers, body: bodies[0] ?? '' });
  const first = performance.now() - began;
  // Fills the caches, and confirms after the start that all chunks have vectors.
  await runLoad({ url: service.filesUrl, request, connections: 4, seconds: 4 });
  const before = ownProcessorTime(service.pid);
  const one = await runLoad({ url: service.filesUrl, request, connections: 1, seconds });
  const processorMs = ((ownProcessorTime(service.pid) - before) * 1000) / one.responses;
  const many = await runLoad({ url: service.filesUrl, request, connections: 32, seconds });
  if (one.failures + many.failures > 0) throw new Error(`${one.failures + many.failures} questions failed`);
  return { processorMs, p50: one.p50, many, first };
}
