import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { repeatsKills } from '../../../../../test/support/kill-depth.ts';
import { createRandom } from '../full-text/testing/full-text-corpus.suite.ts';
import { type ChangingStore, createChangingStore } from './testing/changing-store.ts';
import { checkChangingStore } from './testing/check-changing-store.ts';
import { type KillPoint, killKinds } from './testing/kill-points.ts';

const program = fileURLToPath(new URL('./testing/changing-process.fixture.ts', import.meta.url));
const killsOfEachKind = repeatsKills ? 12 : 1;
/** The longest delay of a kill in milliseconds. Most messages are answered earlier. */
const longestDelay = 3;

test('a process that is killed in any step of an addition, removal, merge, rebuild, swap or deletion of a collection leaves an exact index', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'quartermaster-index-kills-'));
  t.after(() => rm(place, { recursive: true }));
  await mkdir(join(place, 'old'));
  const old = await createChangingStore(join(place, 'old'));
  const copyTo = async (name: string): Promise<ChangingStore> => {
    await cp(old.folder, join(place, name), { recursive: true });
    return { ...old, folder: join(place, name) };
  };
  const { counts } = await changeInProcess(await copyTo('whole'), null);
  const random = createRandom(97);
  let [kills, comparisons] = [0, 0];
  for (const kind of killKinds) {
    const most = counts[kind] ?? assert.fail(`the process has sent no message of the kind ${kind}`);
    for (let n = 0; n < killsOfEachKind; n++) {
      const delay = Math.floor(random() * (longestDelay + 1));
      // The numbers of messages vary, because merges run beside the changes. A process may end before the nth message.
      for (let nth = 1 + Math.floor(random() * most), isKilled = false; !isKilled; nth = Math.ceil(nth / 2)) {
        const result = await killAndCompare(await copyTo(`${kind} ${n}`), { kind, nth, delay });
        isKilled = result.isKilled;
        kills += Number(isKilled);
        comparisons += result.comparisons;
      }
    }
  }
  t.diagnostic(`${kills} kills, ${comparisons} comparisons`);
});

interface Ended {
  readonly isKilled: boolean;
  /** The collections whose deletion was acknowledged. */
  readonly deleted: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

async function changeInProcess(store: ChangingStore, point: KillPoint | null): Promise<Ended> {
  const plan = JSON.stringify({ store, point, seed: 7 });
  const child = spawn(process.execPath, [program, plan], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.ok(signal === 'SIGKILL' || code === 0, `the process ended with ${code}`);
  const lines: Array<{ deleted?: string; counts?: Record<string, number> }> = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return {
    isKilled: signal === 'SIGKILL',
    deleted: lines.flatMap(({ deleted }) => deleted ?? []),
    counts: lines.at(-1)?.counts ?? {},
  };
}

async function killAndCompare(store: ChangingStore, point: KillPoint) {
  const { isKilled, deleted } = await changeInProcess(store, point);
  try {
    const { readable, comparisons } = await checkChangingStore(store, point.nth);
    assert.deepEqual(
      readable.filter((id) => deleted.includes(id)),
      [],
      'a deleted collection can be read',
    );
    return { isKilled, comparisons };
  } catch (error) {
    throw new Error(`after ${JSON.stringify(point)}`, { cause: error });
  } finally {
    await rm(store.folder, { recursive: true });
  }
}
