import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { repeatsKills } from '../../../../../test/support/kill-depth.ts';
import { createLogger } from '../../kernel/log/logger.ts';
import { until } from '../../kernel/testing/until.ts';
import { openDatabase } from '../database/open-database.ts';
import { createSqliteFullText } from '../full-text/sqlite-full-text.ts';
import { createRandom } from '../full-text/testing/full-text-corpus.suite.ts';
import { createChangingCollection, openChangingCollection } from './testing/changing-collection.suite.ts';
import { findWork, type KillPoint, killKinds } from './testing/kill-points.ts';

const program = fileURLToPath(new URL('./testing/changing-process.fixture.ts', import.meta.url));
const logger = createLogger('silent');
const killsOfEachKind = repeatsKills ? 12 : 1;
/** The longest delay of a kill in milliseconds. Most messages are answered earlier. */
const longestDelay = 3;

test('a process that is killed in any step of an addition, removal, merge, rebuild or swap leaves an exact index', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'quartermaster-index-kills-'));
  t.after(() => rm(place, { recursive: true }));
  const collectionId = await createOldStore(join(place, 'old'));
  const counts: Record<string, number> = JSON.parse(
    (await runIn(await copyOf(place, 'whole'), collectionId, null)).output,
  );
  const random = createRandom(97);
  let comparisons = 0;
  for (const kind of killKinds) {
    const most = counts[kind] ?? assert.fail(`the process has sent no message of the kind ${kind}`);
    for (let n = 0; n < killsOfEachKind; n++) {
      // The numbers of messages vary, because merges run beside the changes.
      const nth = 1 + Math.floor((random() * most) / 2);
      const point = { kind, nth, delay: Math.floor(random() * (longestDelay + 1)) };
      comparisons += await killAndCompare(t, { folder: await copyOf(place, `${kind} ${n}`), collectionId, point });
    }
  }
  t.diagnostic(`${killKinds.length * killsOfEachKind} kills, ${comparisons} comparisons`);
});

/** Creates a store with an index of FTS5 that is to be rebuilt. */
async function createOldStore(folder: string): Promise<string> {
  await mkdir(folder);
  const database = await openDatabase({ url: null, dataFolder: folder, logger });
  const collection = await createChangingCollection(database, { seed: 5, createIndex: createSqliteFullText().create });
  await collection.add(1200);
  await database.close();
  return collection.id;
}

async function copyOf(place: string, name: string): Promise<string> {
  const folder = join(place, name);
  await cp(join(place, 'old'), folder, { recursive: true });
  return folder;
}

async function runIn(folder: string, collectionId: string, point: KillPoint | null) {
  const plan = JSON.stringify({ folder, collectionId, point, seed: 7 });
  const child = spawn(process.execPath, [program, plan], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.ok(signal === 'SIGKILL' || code === 0, `the process ended with ${code}`);
  return { output, isKilled: signal === 'SIGKILL' };
}

interface Kill {
  readonly folder: string;
  readonly collectionId: string;
  readonly point: KillPoint;
}

/** Compares what the killed process has left, and again after the background work of the next process. */
async function killAndCompare(t: TestContext, { folder, collectionId, point }: Kill): Promise<number> {
  const { isKilled } = await runIn(folder, collectionId, point);
  if (!isKilled) t.diagnostic(`not reached: ${JSON.stringify(point)}`);
  const database = await openDatabase({ url: null, dataFolder: folder, logger });
  try {
    const collection = await openChangingCollection(database, { collectionId, seed: point.nth });
    const check = async () => {
      const findings = await database.searchIndex.check(database.read, collectionId);
      assert.deepEqual(findings, [], `after ${JSON.stringify(point)}`);
      return collection.compare();
    };
    let comparisons = await check();
    database.startMerging(async () => true);
    for (let n = 0; n < 5; n++) await collection.changeSomehow();
    await until(async () => !(await findWork(database)));
    comparisons += await check();
    const { chunks } = await database.searchIndex.statistics(database.read, collectionId);
    assert.equal(chunks, collection.texts.size);
    return comparisons;
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
}
