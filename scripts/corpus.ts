// `npm run script -- corpus [FOLDER]` sends every real document that its manifest marks as readable through the API of a new
// service: upload, record, settled. It prints the outcomes by kind, and fails when a response is a 5xx or a record does
// not settle.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { ApiError } from '@quartermaster/client';
import type { RecordItem } from '@quartermaster/contract';
import { createLogger, openService, parseConfig } from '@quartermaster/server';
import { connectClient, settledRecord } from '../test/support/client.ts';
import { corpusFolder } from '../test/support/corpus.ts';

interface Entry {
  readonly path: string;
  readonly kind: string;
  readonly expect: string;
  readonly decode?: string;
}

interface Result {
  readonly entry: Entry;
  readonly outcome: string;
  readonly detail: string;
}

const folder = resolve(process.argv[2] ?? corpusFolder);
const lanes = 4;
const settleSeconds = 300;

const entries = readFileSync(join(folder, 'manifest.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Entry)
  .filter((entry) => entry.expect === 'ok');

const data = mkdtempSync(join(tmpdir(), 'quartermaster-corpus-'));
const service = await openService(
  parseConfig({ QUARTERMASTER_DATA: data, QUARTERMASTER_FILES_PORT: '0', QUARTERMASTER_SERVE: 'files' }),
  createLogger('error'),
);
const filesUrl = service.filesUrls[0] ?? '';
const client = connectClient({ filesUrl, pluginsUrl: `${filesUrl}/plugins` }, service.firstKey?.key.reveal() ?? '');
const started = performance.now();
const results: Result[] = [];
try {
  const collections = {
    record_file: (await client.collections.create({ name: 'corpus', type: 'text' })).collection_id,
    qa_record_file: (await client.collections.create({ name: 'corpus', type: 'qa' })).collection_id,
  };
  const queue = entries.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const entry of queue) results.push(await takeIn(entry, collections));
    }),
  );
} finally {
  await service.close();
  rmSync(data, { recursive: true, force: true });
}
report((performance.now() - started) / 1000);

async function takeIn(entry: Entry, collections: Record<'record_file' | 'qa_record_file', string>): Promise<Result> {
  const path = join(folder, entry.path);
  const bytes = entry.decode === 'xz' ? execFileSync('xz', ['-dc', path], { maxBuffer: 2 ** 30 }) : readFileSync(path);
  const name = basename(entry.path).replace(/\.xz$/, '');
  const purpose = /\.(csv|xlsx)$/i.test(name) ? 'qa_record_file' : 'record_file';
  try {
    const file = await client.files.upload(new Blob([Uint8Array.from(bytes)]), { purpose, name });
    const type = purpose === 'record_file' ? 'file' : 'qa_sheet';
    const created = await client.records.create(collections[purpose], { type, file_id: file.file_id });
    const signal = AbortSignal.timeout(settleSeconds * 1000);
    const record: RecordItem = await settledRecord(client, collections[purpose], created.record_id, signal);
    return { entry, outcome: record.status, detail: record.error?.code ?? '' };
  } catch (error) {
    if (error instanceof ApiError) return { entry, outcome: `http ${error.status}`, detail: error.code };
    return { entry, outcome: 'not settled', detail: String(error) };
  }
}

function report(seconds: number): void {
  for (const [kind, ofKind = []] of Object.entries(Object.groupBy(results, ({ entry }) => entry.kind))) {
    const counts = Object.entries(Object.groupBy(ofKind, ({ outcome, detail }) => `${outcome} ${detail}`.trim()));
    const text = counts.map(([outcome, list = []]) => `${list.length} ${outcome}`).join(', ');
    console.log(`${kind.padEnd(5)} ${String(ofKind.length).padStart(4)}: ${text}`);
  }
  const of = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
  const bad = results.filter(({ outcome }) => /^http 5|not settled|creating/.test(outcome));
  console.log(
    `${results.length} files in ${seconds.toFixed(1)} s: ${of('ready')} ready, ${of('partial')} partial, ${of('error')} error, ${bad.length} 5xx or not settled`,
  );
  for (const { entry, outcome, detail } of results.filter((result) => result.outcome !== 'ready')) {
    console.log(`  ${outcome.padEnd(11)} ${detail.padEnd(20)} ${entry.path}`);
  }
  process.exitCode = bad.length > 0 || results.length === 0 ? 1 : 0;
}
