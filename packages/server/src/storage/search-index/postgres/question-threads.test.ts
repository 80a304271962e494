import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IndexThread } from './postgres-index-thread.ts';
import { createQuestionThreads } from './question-threads.ts';

test('questions share one thread until it is busy, then a second one, which ends when it is idle', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const opened: IndexThread[] = [];
  const closed: number[] = [];
  const started: number[] = [];
  const open = () => {
    const place = opened.length;
    const close = async () => void closed.push(place);
    opened.push({ start: () => void started.push(place), call: () => assert.fail('nothing is asked'), close });
    return opened[place] as IndexThread; // just added
  };
  const threads = createQuestionThreads(undefined, { most: 2, idle: 100, open });
  const used: number[] = [];
  function ask() {
    const end = Promise.withResolvers<void>();
    const done = threads.use(async (thread) => {
      used.push(opened.indexOf(thread));
      await end.promise;
    });
    return async () => {
      end.resolve();
      await done;
    };
  }
  for (let n = 0; n < 3; n++) await ask()();
  const [endFirst, endSecond, endThird] = [ask(), ask(), ask()];
  assert.deepEqual(used, [0, 0, 0, 0, 1, 0]);
  await endSecond();
  t.mock.timers.tick(99);
  const endFourth = ask();
  assert.equal(used.at(-1), 1);
  t.mock.timers.tick(200);
  assert.deepEqual(closed, [], 'a thread with a question stays');
  for (const end of [endFirst, endThird, endFourth]) await end();
  t.mock.timers.tick(100);
  assert.deepEqual(closed, [1]);
  await assert.rejects(
    threads.use(() => Promise.reject(new Error('on fire'))),
    /on fire/,
  );
  await ask()();
  assert.equal(used.at(-1), 0, 'a failed question is over');
  threads.start();
  await threads.close();
  threads.start();
  await assert.rejects(async () => await ask()(), /closed/);
  assert.deepEqual([started, used.at(-1), closed.slice(1)], [[0], 0, [0, 1]], 'none starts after the end');
});
