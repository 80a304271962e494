import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { connectClient, settledRecord } from '../../test/support/client.ts';
import { requestBytes, runLoad } from '../load.ts';
import { ownProcessorTime, processorTime, type Service, startService } from '../processes.ts';
import type { QuestionFigures, SearchEngine } from './search-engine.ts';
import { searchQuestions, searchSheets } from './search-texts.ts';

const logLevel = { QUARTERMASTER_LOG_LEVEL: 'warn' };

/** A service with one collection of pairs. */
export interface SearchedService extends SearchEngine {
  readonly service: Service;
  readonly data: string;
  readonly collection: string;
  /** Seconds until all chunks could be found, and the processor seconds of the service and its children. */
  readonly imported: { readonly seconds: number; readonly processorSeconds: number };
}

export interface SearchedOptions {
  readonly name: string;
  readonly data: string;
  readonly size: number;
  /** The checkout of another commit. */
  readonly root?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** The largest number of rows of a sheet. */
  readonly rows?: number;
}

/** Starts a service and imports the pairs, one sheet after another. */
export async function openSearchedService(options: SearchedOptions): Promise<SearchedService> {
  const { name, data, size, root, settings } = options;
  const service = await startService(data, { ...logLevel, ...settings }, root);
  try {
    const client = connectClient(service, service.key);
    const { collection_id: collection } = await client.collections.create({ name: 'pairs', type: 'qa' });
    const processorBefore = processorTime(service.pid);
    let seconds = 0;
    for (const { csv, rows } of searchSheets(size, options.rows)) {
      // The service has closed idle connections while the sheet was built. The client learns of it here.
      await setImmediate();
      const began = performance.now();
      await importSheet(service, { collection, csv, rows });
      seconds += (performance.now() - began) / 1000;
    }
    const imported = { seconds, processorSeconds: processorTime(service.pid) - processorBefore };
    // Fills the caches and compiles the code, as the first seconds of use do.
    await askService(service, [collection], { connections: 4, seconds: 2 });
    return {
      ...{ name, data, service, collection, imported },
      ask: (load) => askService(service, [collection], load),
      async close() {
        await service.stop();
      },
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

export interface ImportedSheet {
  readonly collection: string;
  readonly csv: string;
  readonly rows: number;
  readonly metadata?: Record<string, string>;
}

export async function importSheet(
  service: Service,
  { collection, csv, rows, metadata }: ImportedSheet,
): Promise<string> {
  const client = connectClient(service, service.key);
  const { file_id } = await client.files.upload(new Blob([csv]), { purpose: 'qa_record_file', name: 'pairs.csv' });
  const { record_id } = await client.records.create(collection, {
    ...{ type: 'qa_sheet', file_id },
    ...(metadata === undefined ? {} : { metadata }),
  });
  const record = await settledRecord(client, collection, record_id);
  assert.equal(record.num_chunks, rows, JSON.stringify(record));
  return record_id;
}

/** Asks all questions in turn, each about the next of the collections. */
export async function askService(
  service: Service,
  collections: readonly string[],
  { filter, ...load }: { connections: number; seconds: number; filter?: object | undefined },
): Promise<QuestionFigures> {
  const questions = searchQuestions();
  const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' };
  const request = Array.from({ length: Math.max(collections.length, questions.length) }, (_, place) => {
    const body = JSON.stringify({ query_text: questions[place % questions.length], top_k: 5, filters: filter });
    const path = `/v1/collections/${collections[place % collections.length]}/chunks/query`;
    return requestBytes('POST', path, { headers, body });
  });
  const before = ownProcessorTime(service.pid);
  const measured = await runLoad({ url: service.filesUrl, request, ...load });
  assert.equal(measured.failures, 0);
  const processorMs = ((ownProcessorTime(service.pid) - before) * 1000) / measured.responses;
  return { ...measured, processorMs };
}

/** Waits until no segment waits for its deletion, and no merge has changed the segments for two seconds. */
export async function untilMerged(data: string): Promise<void> {
  using database = openStore(data);
  const state = () => JSON.stringify(database.prepare('select id, state from index_segment order by id').all());
  let last = '';
  for (let calm = 0; calm < 4; ) {
    await pause(500);
    const now = state();
    calm = now === last && !/retired|building/.test(now) ? calm + 1 : 0;
    last = now;
  }
}

/** Returns the bytes of the live segments. */
export function indexBytes(data: string): number {
  using database = openStore(data);
  const sum = (sql: string) => Number(database.prepare(sql).get()?.bytes);
  const pages = sum('select sum(length(data)) as bytes from index_page');
  return pages + sum("select sum(length(header)) as bytes from index_segment where state = 'live'");
}

/** Returns the number of chunks that were ever added. */
export function countAdded(data: string): number {
  using database = openStore(data);
  return Number(database.prepare('select max(seq) as chunks from chunk').get()?.chunks);
}

function openStore(data: string): DatabaseSync {
  return new DatabaseSync(join(data, 'quartermaster.db'), { readOnly: true, timeout: 10_000 });
}

/** Starts the service again and measures its first question in milliseconds. */
export async function measureFirstQuestion({ data, collection }: SearchedService, root?: string) {
  const service = await startService(data, logLevel, root);
  try {
    const client = connectClient(service, service.key);
    await client.collections.list();
    const [question = ''] = searchQuestions();
    const began = performance.now();
    const found = await client.search(collection, { query_text: question, top_k: 5 });
    assert.equal(found.length, 5);
    return performance.now() - began;
  } finally {
    await service.stop();
  }
}

export function removeStore({ data }: SearchedService): void {
  rmSync(data, { recursive: true, force: true });
}
