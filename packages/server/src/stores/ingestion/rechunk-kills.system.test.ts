import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { repeatsKills } from '../../../../../test/support/kill-depth.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { createCollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import { contentOf, countStored } from '../collections/records/testing/record-contents.suite.ts';
import { newCollection } from '../collections/testing/fixtures.suite.ts';
import { silent } from '../collections/testing/test-collections.suite.ts';
import type { KillPlan, KillPoint } from './testing/killed-worker.fixture.ts';

const program = fileURLToPath(new URL('./testing/killed-worker.fixture.ts', import.meta.url));
const sentence = (n: number) => `Sentence ${n} tells of the ${n % 17} foxes that live behind hill ${n * 7}.`;
const at = (call: string, nth: number, when: KillPoint['when']): KillPoint => ({ call, nth, when });

/** Each step of a change of the settings: the choice of records, their reading, the new chunks, the switch, the removal. */
const everyKill = [
  at('step', 1, 'before'),
  at('step', 1, 'during'),
  at('step', 1, 'after'),
  at('claim', 1, 'after'),
  at('parsing', 1, 'before'),
  at('addChunks', 1, 'during'),
  at('addChunks', 2, 'after'),
  at('saveCheckpoint', 1, 'during'),
  at('saveCheckpoint', 1, 'after'),
  at('publish', 1, 'during'),
  at('publish', 1, 'after'),
  at('sweep', 2, 'during'),
];

/** Those at which something else is stored than before. */
const oneOfEachStage = everyKill.filter(({ call, when }) =>
  ['step after', 'addChunks during', 'saveCheckpoint after', 'publish during', 'sweep during'].includes(
    `${call} ${when}`,
  ),
);
const kills = repeatsKills ? everyKill : oneOfEachStage;

test('after its worker is killed at each step of a change of chunking, every record follows the last settings', async (t) => {
  const { folder, projectId, collectionId } = await prepare(t);
  const content = Array.from({ length: 600 }, (_, n) => sentence(n)).join('\n\n');
  const base = { folder, projectId, collectionId, record: { content }, again: false };
  for (let n = 0; n < 2; n += 1) assert.deepEqual(await runWorker(t, { ...base, point: null }), [0, null]);
  for (const [place, point] of kills.entries()) {
    const plan = { ...base, chunkSize: 60 + place * 10, point };
    assert.deepEqual(await runWorker(t, plan), [null, 'SIGKILL'], JSON.stringify(point));
    const database = await openDatabase({
      admission: createAdmission(),
      url: null,
      dataFolder: folder,
      logger: silent,
    });
    const visible = await database.read.selectFrom('record').select(['num_chunks', 'generation']).execute();
    await database.close();
    assert.ok(
      visible.every(({ num_chunks, generation }) => num_chunks > 20 && generation > 0),
      'the chunks answer',
    );
  }
  const last = 60 + kills.length * 10;
  assert.deepEqual(await runWorker(t, { ...base, chunkSize: last, point: null }), [0, null]);

  const database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger: silent });
  t.after(() => database.close());
  const records = await database.read.selectFrom('record').selectAll().execute();
  const contents = await Promise.all(records.map((record) => contentOf(database, record)));
  const [first, second] = contents;
  assert.equal(first?.status, 'ready');
  assert.deepEqual(second, first);
  const tokens = first.chunks.map(({ num_tokens }) => num_tokens);
  assert.ok(Math.max(...tokens) <= last && Math.max(...tokens) > last - 30, `${Math.max(...tokens)} of ${last}`);
  assert.equal(first.chunks.map((chunk) => chunk.content).join('\n\n'), content, 'no text is lost or repeated');
  const numChunks = records.reduce((sum, record) => sum + record.num_chunks, 0);
  assert.deepEqual(await countStored(database), { chunks: numChunks, indexed: numChunks, wrongKeys: 0 });
});

async function prepare(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-kills-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  // The program reads both, and no record of this test uses them.
  await writeFile(join(folder, 'sheet.csv'), '');
  await writeFile(join(folder, 'page.html'), '');
  const database = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger: silent });
  const collection = newCollection({ type: 'text' });
  await createCollectionRepositories(database).collections.add(collection, 10);
  await database.close();
  return { folder, projectId: collection.projectId, collectionId: collection.id };
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
