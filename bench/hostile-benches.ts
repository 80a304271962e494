import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Quartermaster } from '@quartermaster/client';
import { zipSync } from 'fflate';
import { type Entry, readCorpus, readManifest } from '../scripts/score/corpus.ts';
import { connectClient, settledRecord } from '../test/support/client.ts';
import { watched } from './http-benches.ts';
import { type Service, startService } from './processes.ts';
import type { Row } from './table.ts';

const lanes = 4;
const idleMs = 5000;
const mostMs = 50;
/** The maximum number of seconds for a document, so that documents that would take minutes end within the benchmark. */
const seconds = '20';

interface Document {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Uploads broken, encrypted and hostile files through the API concurrently. The floor is the idle service. */
export async function hostileBenches(folder: string): Promise<Row[]> {
  const service = await startService(folder, {
    QUARTERMASTER_LOG_LEVEL: 'error',
    QUARTERMASTER_EXTRACTION_SECONDS: seconds,
  });
  try {
    return [await hostileBench(service)];
  } finally {
    await service.stop();
  }
}

async function hostileBench(service: Service): Promise<Row> {
  // Runs before the first call, because an open connection would time out during this work.
  const documents = [...hostileDocuments()];
  const client = connectClient(service, service.key);
  const collections = {
    record_file: (await client.collections.create({ name: 'hostile', type: 'text' })).collection_id,
    qa_record_file: (await client.collections.create({ name: 'hostile', type: 'qa' })).collection_id,
  };
  const [, rest] = await watched(service, () => pause(idleMs));
  const outcomes: string[] = [];
  const takeAll = async (queue: Iterable<Document>) => {
    for (const document of queue) outcomes.push(await takeIn(client, collections, document));
  };
  const [, watch] = await watched(service, async () => {
    const queue = documents.values();
    await Promise.all(Array.from({ length: lanes }, () => takeAll(queue)));
  });
  const ready = outcomes.filter((outcome) => outcome === 'ready' || outcome === 'partial').length;
  const codes = new Set(outcomes).size;
  return {
    bench: `${outcomes.length} hostile files`,
    ours: `all settled: ${ready} read, ${outcomes.length - ready} refused, ${codes} outcomes`,
    floor: `at rest: loop p99 ${rest.loopP99.toFixed(1)} ms`,
    bar: `loop p99 ≤ ${mostMs} ms: ${watch.loopP99.toFixed(1)}`,
    met: watch.loopP99 <= mostMs,
    ...watch,
  };
}

/**
 * Returns the status of the record, or the code of its error or of the refusal.
 * @throws for any other error
 */
async function takeIn(
  client: Quartermaster,
  collections: Record<'record_file' | 'qa_record_file', string>,
  { name, bytes }: Document,
): Promise<string> {
  const purpose = /\.(csv|xlsx)$/.test(name) ? 'qa_record_file' : 'record_file';
  const content = new Blob([Uint8Array.from(bytes)]);
  const uploaded = await client.files.upload(content, { purpose, name }).catch((error: { status?: number }) => error);
  if (!('file_id' in uploaded)) {
    if ((uploaded.status ?? 500) >= 500) throw uploaded;
    return `upload ${uploaded.status}`;
  }
  const type = purpose === 'record_file' ? 'file' : 'qa_sheet';
  const created = await client.records.create(collections[purpose], { type, file_id: uploaded.file_id });
  const record = await settledRecord(client, collections[purpose], created.record_id);
  return record.error?.code ?? record.status;
}

function* hostileDocuments(): Generator<Document> {
  yield* builtDocuments();
  const kinds = ['pdf', 'docx', 'html', 'md', 'txt', 'csv', 'xlsx'];
  for (const entry of readManifest(kinds).filter(({ expect }) => expect !== 'ok')) yield documentOf(entry);
}

function documentOf({ path }: Entry): Document {
  return { name: basename(path).replace(/\.xz$/, ''), bytes: readCorpus(path) };
}

/** Documents that no corpus may contain: text that unpacks to a gigabyte, letters without a break, unclosed tags. */
function* builtDocuments(): Generator<Document> {
  const blanks = new Uint8Array(1024 ** 2 * 256).fill(32);
  const parts = {
    '[Content_Types].xml': Buffer.from('<Types/>'),
    '_rels/.rels': Buffer.from(
      '<Relationships><Relationship Id="a" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
  };
  yield { name: 'bomb.docx', bytes: zipSync({ ...parts, 'word/document.xml': [blanks, { level: 1 }] }) };
  const letters = Array.from({ length: 20_000_000 }, (_, index) => 97 + (((index * index) % 8191) % 26));
  yield { name: 'unbroken.txt', bytes: Uint8Array.from(letters) };
  yield { name: 'deep.html', bytes: Buffer.from(`<html><body>${'<div><b>'.repeat(300_000)}x`) };
  yield { name: 'rows.csv', bytes: Buffer.from(`question,answer\n${'"'.repeat(5_000_000)}`) };
  yield { name: 'tables.md', bytes: Buffer.from('| a | b |\n|--|--|\n'.repeat(200_000)) };
}
