import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RecordCreate } from '@quartermaster/contract';
import { repeatsKills } from '../../../../../test/support/kill-depth.ts';
import { databaseFor } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Database } from '../../storage/database/database.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { contentOf, countStored } from '../collections/records/testing/record-contents.suite.ts';
import { newCollection } from '../collections/testing/fixtures.suite.ts';
import { silent } from '../collections/testing/test-collections.suite.ts';
import type { KillPlan, KillPoint } from './testing/killed-worker.fixture.ts';

const sheetId = 'file00000000000000sheet1';
const rows = 2_600;
const program = fileURLToPath(new URL('./testing/killed-worker.fixture.ts', import.meta.url));

const sentence = (n: number) => `Sentence ${n} tells of the ${n % 17} foxes that live behind hill ${n * 7}.`;
/** A sheet in which every tenth row has no answer and every hundredth occurs twice. */
const sheet = [
  'question,answer',
  ...Array.from(
    { length: rows },
    (_, n) => `question ${n - (n % 100 === 99 ? 1 : 0)},${n % 10 === 5 ? '' : sentence(n)}`,
  ),
].join('\n');
const page = `<main>${Array.from({ length: 2_400 }, (_, n) => `<p>${sentence(n)}</p>`).join('\n')}</main>`;
const sources: Readonly<Record<string, RecordCreate>> = {
  text: {
    content: Array.from({ length: 2_400 }, (_, n) => sentence(n)).join('\n\n'),
    text_splitter: { type: 'separator', separators: ['\n\n'], chunk_size: 50, chunk_overlap: 0 },
  },
  sheet: { type: 'qa_sheet', file_id: sheetId, on_duplicate: 'keep' },
  web: { type: 'web', url: 'https://example.org/', text_splitter: { type: 'token', chunk_size: 50, chunk_overlap: 0 } },
};

const at = (call: string, nth: number, when: KillPoint['when']): KillPoint => ({ call, nth, when });
/** Kill points in every stage of the work: claiming, clearing, reading, writing, switching, sweeping. */
const everywhere = [
  at('claim', 1, 'after'),
  at('remainingCapacity', 1, 'after'),
  at('parsing', 1, 'before'),
  at('chunking', 2, 'before'),
  at('addChunks', 1, 'before'),
  at('addChunks', 1, 'during'),
  at('addChunks', 2, 'after'),
  at('addChunks', 3, 'during'),
  at('saveCheckpoint', 1, 'before'),
  at('saveCheckpoint', 1, 'during'),
  at('saveCheckpoint', 1, 'after'),
  at('publish', 1, 'during'),
  at('publish', 1, 'after'),
];
interface Kill {
  readonly source: string;
  readonly again: boolean;
  readonly point: KillPoint;
}

const everyKill: readonly Kill[] = [
  ...everywhere.map((point) => ({ source: 'text', again: false, point })),
  ...everywhere.filter(({ call }) => call !== 'chunking').map((point) => ({ source: 'sheet', again: false, point })),
  ...[at('findFile', 1, 'after'), at('open', 1, 'before'), at('addRows', 1, 'during'), at('addRows', 2, 'after')].map(
    (point) => ({ source: 'sheet', again: false, point }),
  ),
  ...[at('fetch', 1, 'before'), at('fetch', 1, 'after'), at('extract', 1, 'before'), at('addChunks', 1, 'during')].map(
    (point) => ({ source: 'web', again: false, point }),
  ),
  ...everywhere.map((point) => ({ source: 'text', again: true, point })),
  ...[at('sweep', 1, 'after'), at('sweep', 2, 'during'), at('sweep', 3, 'during'), at('addRows', 1, 'after')].map(
    (point) => ({
      source: 'sheet',
      again: true,
      point,
    }),
  ),
];
/** One kill at each call, and two while a record is created again. */
const oneOfEachStage: readonly Kill[] = [
  ...[
    at('claim', 1, 'after'),
    at('remainingCapacity', 1, 'after'),
    at('parsing', 1, 'before'),
    at('chunking', 2, 'before'),
    at('addChunks', 2, 'after'),
    at('saveCheckpoint', 1, 'during'),
    at('publish', 1, 'during'),
  ].map((point) => ({ source: 'text', again: false, point })),
  ...[at('findFile', 1, 'after'), at('open', 1, 'before'), at('addRows', 1, 'during')].map((point) => ({
    source: 'sheet',
    again: false,
    point,
  })),
  ...[at('fetch', 1, 'after'), at('extract', 1, 'before')].map((point) => ({ source: 'web', again: false, point })),
  { source: 'text', again: true, point: at('addChunks', 1, 'during') },
  { source: 'sheet', again: true, point: at('sweep', 2, 'during') },
];
const kills = repeatsKills ? everyKill : oneOfEachStage;

test('[killed] after its worker is killed at each stage, in the proof 50 times, every record ends with the chunks of an undisturbed run', async (t) => {
  assert.ok(everyKill.length >= 50, `${everyKill.length} kills are planned`);
  const calls = (list: readonly Kill[]) => new Set(list.map(({ point }) => point.call));
  assert.deepEqual(calls(oneOfEachStage).symmetricDifference(calls(everyKill)), new Set(), 'each stage has a kill');
  const { folder, projectId, texts, pairs } = await prepare(t);
  const run = async (source: string, more: { again: boolean; point: KillPoint | null }) => {
    const collectionId = source === 'sheet' ? pairs : texts;
    const plan = { folder, projectId, collectionId, record: sources[source] ?? {}, ...more };
    return runWorker(t, plan);
  };
  for (const source of Object.keys(sources)) {
    assert.deepEqual(await run(source, { again: false, point: null }), [0, null], source);
  }
  for (const { source, ...more } of kills) {
    assert.deepEqual(await run(source, more), [null, 'SIGKILL'], `${source} at ${JSON.stringify(more)}`);
  }
  // The last run cleans up after the run before it.
  assert.deepEqual(await run('text', { again: false, point: null }), [0, null]);

  const database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger: silent });
  t.after(() => database.close());
  await compare(database, ['text', 'sheet', 'web', ...kills.map(({ source }) => source), 'text']);
});

test('[killed] [postgres] a small record whose process is killed at any statement of its publication is published once', async (t) => {
  const url = await databaseFor(t);
  const { folder, projectId, texts: collectionId } = await prepare(t, url);
  const record = { content: 'Tea is steeped at seventy degrees.' };
  const run = (point: KillPoint | null) =>
    runWorker(t, { folder, url, projectId, collectionId, record, again: false, point });
  assert.deepEqual(await run(null), [0, null]);
  let records = 1;
  for (let signal: string | null = 'SIGKILL'; signal !== null; records++) {
    [, signal] = await run({ ...at('publish', 1, 'during'), statement: records });
  }
  t.diagnostic(`${records - 2} kills`);
  // Begin, commit, and at least a statement for each of the chunk, its segment, the record and the sums.
  assert.ok(records - 2 >= 6, `${records - 2} kills`);
  const database = await openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger: silent });
  await compare(database, Array<string>(records).fill('small')).finally(() => database.close());
});

async function prepare(t: TestContext, url: string | null = null) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-kills-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  await writeFile(join(folder, 'sheet.csv'), sheet);
  await writeFile(join(folder, 'page.html'), page);
  const database = await openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger: silent });
  const texts = newCollection({ type: 'text' });
  const pairs = newCollection({ type: 'qa', projectId: texts.projectId });
  for (const collection of [texts, pairs]) await createCollectionRepositories(database).collections.add(collection, 10);
  await database.close();
  return { folder, projectId: texts.projectId, texts: texts.id, pairs: pairs.id };
}

/** Runs a worker. Returns its exit code, or the signal that ended it. */
async function runWorker(t: TestContext, plan: KillPlan): Promise<[number | null, string | null]> {
  const file = join(plan.folder, 'plan.json');
  await writeFile(file, JSON.stringify(plan));
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return [code, signal];
}

/** Asserts that each record equals the first one of its source, and that no table contains anything else. */
async function compare(database: Database, expected: readonly string[]): Promise<void> {
  const { read } = database;
  const records = await read.selectFrom('record').selectAll().orderBy('id').execute();
  assert.equal(records.length, expected.length);
  const undisturbed = new Map<string, unknown>();
  let numChunks = 0;
  for (const [place, record] of records.entries()) {
    const source = expected[place] ?? '';
    const content = await contentOf(database, record);
    assert.ok(
      content.chunks.length > 2_000 || source === 'web' || source === 'small',
      `${content.chunks.length} chunks of ${source}`,
    );
    if (undisturbed.has(source)) assert.deepEqual(content, undisturbed.get(source), `record ${place}, ${source}`);
    else undisturbed.set(source, content);
    numChunks += record.num_chunks;
  }
  const stored = await countStored(database);
  assert.deepEqual(
    stored,
    { chunks: numChunks, indexed: numChunks, wrongKeys: 0 },
    'nothing is there but the visible chunks',
  );
}
