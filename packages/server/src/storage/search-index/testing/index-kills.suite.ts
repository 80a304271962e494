import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { repeatsKills } from '../../../../../../test/support/kill-depth.ts';
import type { Database } from '../../database/database.ts';
import type { ChangingStore } from './changing-store.ts';
import { checkChangingStore } from './check-changing-store.ts';
import { createRandom } from './full-text-corpus.suite.ts';
import { type KillPoint, killKindsOf } from './kill-points.ts';

/** Stores whose processes are killed. */
export interface KillPlace {
  readonly dialect: Database['dialect'];
  create(): Promise<ChangingStore>;
  copy(store: ChangingStore): Promise<ChangingStore>;
  /** Waits until nothing of the killed process changes the store any more. */
  untilLeft(store: ChangingStore): Promise<void>;
  remove(store: ChangingStore): Promise<void>;
}

const program = fileURLToPath(new URL('./changing-process.fixture.ts', import.meta.url));
const killsOfEachKind = repeatsKills ? 12 : 1;
/** The longest delay of a kill in milliseconds. Most messages are answered earlier. */
const longestDelay = 3;

/** Kills a process in each step, and compares what it has left with a scan of all chunks. */
export function testIndexKills(title: string, open: () => Promise<KillPlace>): void {
  test(title, async (t) => {
    const place = await open();
    const old = await place.create();
    const whole = await place.copy(old);
    const { counts } = await changeInProcess(whole, null);
    await place.remove(whole);
    const random = createRandom(97);
    let [kills, comparisons] = [0, 0];
    for (const kind of killKindsOf(place.dialect)) {
      const most = counts[kind] ?? assert.fail(`the process has sent no message of the kind ${kind}`);
      for (let n = 0; n < killsOfEachKind; n++) {
        const delay = Math.floor(random() * (longestDelay + 1));
        // The numbers of messages vary, because merges run beside the changes. A process may end before the nth message.
        for (let nth = 1 + Math.floor(random() * most), isKilled = false; !isKilled; nth = Math.ceil(nth / 2)) {
          const result = await killAndCompare(place, await place.copy(old), { kind, nth, delay });
          isKilled = result.isKilled;
          kills += Number(isKilled);
          comparisons += result.comparisons;
        }
      }
    }
    await place.remove(old);
    t.diagnostic(`${kills} kills, ${comparisons} comparisons`);
  });
}

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

async function killAndCompare(place: KillPlace, store: ChangingStore, point: KillPoint) {
  const { isKilled, deleted } = await changeInProcess(store, point);
  await place.untilLeft(store);
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
    await place.remove(store);
  }
}
