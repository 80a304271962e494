import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { until } from '../../platform/testing/until.ts';
import { startBroker, startServer } from '../../tools/egress/testing/broker.suite.ts';
import {
  createTestFiles,
  newId,
  openTestDatabase,
  openTestService,
  silent,
} from '../collections/testing/test-collections.suite.ts';
import type { Extractor } from '../extraction/extraction.ts';
import { countTokens } from '../extraction/tokens.ts';
import { openExtractor } from '../extraction/worker/open-extractor.ts';
import { createHttpEmbedder } from './embedding/http-embedder.ts';

/*
 * Each fault happens to four chunks in one request, which has the form of OpenAI's API reference "Create embeddings". The
 * table of the page has one row for each fault.
 */
const page = join(import.meta.dirname, '../../../../../docs/reference/embedding-faults.md');

const sheet = 'question,answer\nthe first,a\nthe second,b\nthe bad one,c\nthe last,d\n';

interface Asked {
  readonly texts: readonly string[];
  /** The number of the request, from 1. */
  readonly call: number;
}
type Send = (response: ServerResponse, asked: Asked) => void;

const vectorOf = (text: string) => [text.length, 1];
const itemsOf = ({ texts }: Asked) =>
  texts.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) as unknown[] }));
const send = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};
const answer: Send = (response, asked) => send(response, 200, { data: itemsOf(asked) });
const refuse =
  (status: number, message: string, headers = {}): Send =>
  (response) =>
    send(response, status, { error: { message } }, headers);
const onlyTo =
  (fault: Send): Send =>
  (response, asked) =>
    (asked.texts.includes('the bad one') ? fault : answer)(response, asked);
const changed =
  (change: (items: ReturnType<typeof itemsOf>) => unknown[]): Send =>
  (response, asked) =>
    send(response, 200, { data: change(itemsOf(asked)) });
const withNumber =
  (written: string): Send =>
  (response, asked) =>
    send(response, 200, JSON.stringify({ data: itemsOf(asked) }).replace(/\[\d+,/, `[${written},`));

const faults: Readonly<Record<string, Send>> = {
  '400 to every text, as some services answer to a bad key': refuse(400, 'API key not valid'),
  '400 to one text': onlyTo(refuse(400, 'input too long')),
  '401': refuse(401, 'Incorrect API key provided'),
  '404': refuse(404, 'The model does not exist'),
  '429 with `Retry-After: 600`': refuse(429, 'Rate limit reached', { 'retry-after': '600' }),
  '429 without `Retry-After`, twice': (response, asked) =>
    (asked.call <= 2 ? refuse(429, 'Rate limit reached') : answer)(response, asked),
  '500 to one text': onlyTo(refuse(500, 'unsupported value: NaN')),
  '500 to every text': refuse(500, 'internal error'),
  silence: () => {},
  'a connection that is cut': (response) => response.socket?.destroy(),
  'a redirect': (response) => send(response, 307, '', { location: 'https://elsewhere.example.com/v1/embeddings' }),
  'vectors in another order, with their `index`': changed((items) => items.reverse()),
  'a vector too few': changed((items) => items.slice(1)),
  '`NaN` in a vector': withNumber('NaN'),
  '`1e39` in a vector': withNumber('1e39'),
  'an answer of 70 MB': (response, asked) =>
    send(response, 200, `${JSON.stringify({ data: itemsOf(asked) })}${' '.repeat(70_000_000)}`),
};

interface Row {
  readonly fault: string;
  readonly calls: number;
  readonly chunks: string;
  readonly pause: string;
  readonly reason: string;
  readonly afterwards: string;
}

/** One project, because a process of the extractor reads for one project only. */
const projectId = newId('project');

/** Embeds four chunks while the fault lasts, and again after a start without it. */
async function observe(t: TestContext, extractor: Extractor, [fault, faulty]: readonly [string, Send]): Promise<Row> {
  let isOver = false;
  let calls = 0;
  const server = await startServer(t, (_, response) => {
    calls += 1;
    const { input } = JSON.parse(server.requests.at(-1)?.body ?? '') as { input: readonly string[] };
    (isOver ? answer : faulty)(response, { texts: input, call: calls });
  });
  const openEmbedder = () =>
    createHttpEmbedder({
      ...{ provider: 'openai', model: 'm', key: null, dimensions: null, batchSize: 4, countTokens, backoffMs: 1 },
      prefixes: { question: null, chunk: null },
      broker: startBroker(t, { overrides: new Map([[server.origin, server.origin]]) }),
      url: `${server.origin}/v1`,
      timeoutMs: fault === 'silence' ? 100 : 20_000,
    });
  const [database, files] = [await openTestDatabase(t), createTestFiles()];
  const timing = { backoffMs };
  const open = () => openTestService(t, { database, files, embedder: openEmbedder(), timing, extractor });
  const first = await open();
  const { call, collection, record } = first.createProject(projectId);
  const collectionId = await collection({ type: 'qa' });
  const fileId = files.add(projectId, 'qa_record_file', 'a.csv', sheet);
  const { status } = await record(collectionId, { type: 'qa_sheet', file_id: fileId });
  assert.equal(status, 'ready', fault);
  const embedding = async (ask = call) => (await ask('GET', `/v1/collections/${collectionId}`)).body.data.embedding;
  await until(async () => {
    const { num_embedded, last_error } = await embedding();
    return num_embedded === 4 || last_error !== null;
  });
  const found = await embedding();
  const observed = calls;
  await first.services.close();

  isOver = true;
  calls = 0;
  const second = await open();
  const again = second.createProject(projectId).call;
  await until(async () => (await again('GET', `/v1/collections/${collectionId}`)).body.data.vectors === 'current');
  const { num_embedded, num_pending, num_refused, last_error } = found;
  const left = await embedding(again);
  return {
    fault,
    calls: observed,
    chunks: `${num_embedded} / ${num_pending} / ${num_refused}`,
    pause: pauseOf(last_error),
    reason: (last_error?.reason ?? '').replaceAll(`:${server.port}`, ':PORT'),
    afterwards: `${left.num_embedded} / ${left.num_pending} / ${left.num_refused}`,
  };
}

/** No pause ends while a fault is observed. */
const backoffMs = 5 * 60_000;

function pauseOf(error: { timestamp: number; next_attempt_timestamp: number | null } | null): string {
  if (error === null) return '';
  if (error.next_attempt_timestamp === null) return 'never';
  const pause = error.next_attempt_timestamp - error.timestamp;
  return pause === backoffMs ? 'after the pause' : `after ${Math.round(pause / 60_000)} min`;
}

const toLine = (row: Row) => `| ${Object.values(row).join(' | ')} |`;

test('the page shows what each fault of a provider does to chunks, calls and the user', async (t) => {
  const lines: string[] = [];
  const shared = openExtractor({ admission: createAdmission(), processes: 1, logger: silent });
  t.after(() => shared.close());
  const extractor = { ...shared, close: async () => {} };
  for (const fault of Object.entries(faults)) {
    const row = await observe(t, extractor, fault);
    lines.push(toLine(row));
  }
  const shown = readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && Object.keys(faults).some((fault) => line.startsWith(`| ${fault} |`)));
  assert.deepEqual(shown, lines, `The table must be:\n${lines.join('\n')}`);
});
