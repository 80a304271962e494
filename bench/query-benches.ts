import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hashText } from '../packages/server/src/stores/search/embedding/testing/hash-text.fixture.ts';
import { connectClient, settledRecord } from '../test/support/client.ts';
import { startEmbeddingService } from '../test/support/embedding-service.ts';
import { createTestDatabase } from '../test/support/postgres.ts';
import { watched } from './http-benches.ts';
import { ownProcessorTime, type Service, startService } from './processes.ts';
import { createText } from './real-words.ts';
import type { Row } from './table.ts';

const chunks = 100_000;
const questions = 300;
const wordsOfQuestion = 10;
const wordsOfAnswer = 80;
const dimensions = 512;
/** Milliseconds that a question may take at most. */
const mostMs = 50;

interface Variant {
  readonly name: string;
  /** Returns additional settings, and a function that closes what they need. */
  open(): Promise<{ settings: Readonly<Record<string, string>>; close(): Promise<void> }>;
}

const nothing = async () => {};
const variants: readonly Variant[] = [
  { name: 'query-sqlite', open: async () => ({ settings: {}, close: nothing }) },
  {
    name: 'query-postgres',
    open: async () => {
      const { url, drop } = await createTestDatabase();
      return { settings: { QUARTERMASTER_DATABASE_URL: url }, close: drop };
    },
  },
  {
    name: 'query-vectors',
    open: async () => {
      const ends: Array<() => unknown> = [];
      // Uses four decimals, as embedding services do.
      const embed = (text: string) => [...hashText(text, dimensions)].map((value) => Math.round(value * 1e4) / 1e4);
      const { url } = await startEmbeddingService({ after: (end) => void ends.push(end) }, { embed });
      const settings = { QUARTERMASTER_EMBEDDING_PROVIDER: 'openai', QUARTERMASTER_EMBEDDING_URL: url };
      return { settings, close: async () => void ends.map((end) => end()) };
    },
  },
];

/**
 * Measures questions of ten words over 100,000 question–answer pairs, one after another. The floor is an empty
 * collection.
 */
export async function queryBenches(folder: string, wanted: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, open } of variants.filter((variant) => variant.name.includes(wanted))) {
    const { settings, close } = await open();
    const service = await startService(join(folder, name), { ...settings, QUARTERMASTER_LOG_LEVEL: 'warn' });
    try {
      rows.push(await queryBench(service, name));
    } finally {
      await service.stop();
      await close();
    }
  }
  return rows;
}

/** Returns the sorted milliseconds of each question: for the full collection (`ours`) and for an empty one. */
export async function measureQuestions(service: Service) {
  const client = connectClient(service, service.key);
  const text = createText();
  // Builds the sheet before the first call, because an open connection would time out during this work.
  const lines = ['question,answer'];
  for (let n = 0; n < chunks; n++) lines.push(`${text(wordsOfQuestion)} number ${n},${text(wordsOfAnswer)}`);
  const content = new Blob([lines.join('\n')]);
  const { collection_id: empty } = await client.collections.create({ name: 'empty', type: 'qa' });
  const { collection_id: full } = await client.collections.create({ name: 'full', type: 'qa' });
  const { file_id } = await client.files.upload(content, { purpose: 'qa_record_file', name: 'pairs.csv' });
  const { record_id } = await client.records.create(full, { type: 'qa_sheet', file_id });
  assert.equal((await settledRecord(client, full, record_id)).num_chunks, chunks);
  // Records are ready before their vectors are.
  while ((await client.collections.get(full)).vectors === 'catching_up') await pause(500);

  const ask = async (collection: string) => {
    const query = { query_text: text(wordsOfQuestion), top_k: 3 };
    const started = performance.now();
    const found = await client.search(collection, query);
    return { ms: performance.now() - started, found: found.length };
  };
  const askAll = async (collection: string) => {
    const times: number[] = [];
    for (let n = 0; n < questions; n++) {
      const { ms, found } = await ask(collection);
      assert.equal(found, collection === full ? 3 : 0);
      times.push(ms);
    }
    return times.sort((a, b) => a - b);
  };
  // The first question loads the codes of the vectors.
  for (let n = 0; n < 20; n++) await ask(full);
  const before = ownProcessorTime(service.pid);
  const [ours, watch] = await watched(service, () => askAll(full));
  const cost = ((ownProcessorTime(service.pid) - before) * 1000) / questions;
  return { ours, watch, cost, floor: await askAll(empty) };
}

async function queryBench(service: Service, name: string): Promise<Row> {
  const { ours, watch, cost, floor } = await measureQuestions(service);
  const p95 = at(ours, 0.95);
  return {
    bench: `${name}, ${chunks} chunks, ten words`,
    ours: `${describe(ours)}; ${cost.toFixed(1)} ms of processor each`,
    floor: `empty: ${describe(floor)}`,
    bar: `p95 ≤ ${mostMs} ms: ${p95.toFixed(1)}`,
    met: p95 <= mostMs,
    ...watch,
  };
}

export const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
const describe = (sorted: readonly number[]) =>
  `p50 ${at(sorted, 0.5).toFixed(1)} p95 ${at(sorted, 0.95).toFixed(1)} ms`;
