import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createProgress } from './progress.ts';
import { silent } from './test-room.suite.ts';

const held = { id: 'r', token: 't' };

/** Time stands still until the test moves it. */
function openProgress(t: TestContext, kept: () => boolean = () => true) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let now = 1_000_000;
  const written: Array<[stage: string, percent: number, leaseUntil: number]> = [];
  let lost = 0;
  const jobs = {
    report: async (
      _: unknown,
      { stage, percent, leaseUntil }: { stage: string; percent: number; leaseUntil: number },
    ) => {
      written.push([stage, percent, leaseUntil - now]);
      return kept();
    },
  };
  const deps = {
    jobs,
    clock: { now: () => now },
    logger: silent,
    leaseMs: 9_000,
    workedMs: () => 0,
    onChanged: () => undefined,
  };
  const progress = createProgress(deps, held, () => lost++);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10) {
      now += 10;
      t.mock.timers.tick(10);
      await new Promise(setImmediate);
    }
  };
  return { progress, written, pass, lost: () => lost };
}

test('progress is written at once, then at most twice a second, the newest each time', async (t) => {
  const { progress, written, pass } = openProgress(t);
  for (let percent = 1; percent <= 100; percent++) {
    progress.report('parsing', percent);
    await pass(20);
  }
  await progress.close();
  assert.equal(written.length, 4);
  assert.deepEqual(
    written.map(([, percent]) => percent),
    [1, 26, 51, 76],
  );
});

test('the lease is renewed three times while it holds, although nothing changes', async (t) => {
  const { progress, written, pass } = openProgress(t);
  await pass(9_000);
  await progress.close();
  assert.deepEqual(written, Array(3).fill(['queued', 0, 9_000]));
});

test('who lost the claim is told', async (t) => {
  const { progress, pass, lost } = openProgress(t, () => false);
  progress.beat();
  await pass(10);
  assert.equal(lost(), 1);
  await progress.close();
});

test('nothing is written once it is closed', async (t) => {
  const { progress, written, pass } = openProgress(t);
  progress.report('parsing', 5);
  await progress.close();
  await pass(20_000);
  assert.deepEqual(written, []);
});
