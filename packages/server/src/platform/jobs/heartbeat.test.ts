import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startHeartbeat } from './heartbeat.ts';

/** Opens a heartbeat with mocked timers. */
function openHeartbeat(t: TestContext, renew: () => Promise<boolean> = async () => true) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const events: string[] = [];
  const heartbeat = startHeartbeat({
    leaseMs: 9_000,
    renew: () => {
      events.push('renewed');
      return renew();
    },
    onLost: () => events.push('lost'),
    onError: () => events.push('failed'),
  });
  const pass = async (ms: number) => {
    for (let remaining = ms; remaining > 0; remaining -= 10) {
      t.mock.timers.tick(10);
      await new Promise(setImmediate);
    }
  };
  return { heartbeat, events, pass };
}

test('a lease is renewed three times while it holds, although nothing asks for it', async (t) => {
  const { heartbeat, events, pass } = openHeartbeat(t);
  await pass(9_000);
  await heartbeat.close();
  assert.deepEqual(events, ['renewed', 'renewed', 'renewed']);
});

test('requested renewals run at most twice a second, also after the claim', async (t) => {
  const { heartbeat, events, pass } = openHeartbeat(t);
  const counts: number[] = [];
  for (let requests = 0; requests < 100; requests += 1) {
    heartbeat.renewSoon();
    await pass(20);
    if (requests % 25 === 0) counts.push(events.length);
  }
  await heartbeat.close();
  assert.deepEqual([...counts, events.length], [0, 1, 2, 3, 4]);
});

test('a lost lease and a failed renewal are reported, and only the first ends the work', async (t) => {
  const answers = [() => Promise.reject(new Error('away')), () => Promise.resolve(false), () => Promise.resolve(true)];
  const { heartbeat, events, pass } = openHeartbeat(t, () => answers.shift()?.() ?? assert.fail('once too often'));
  await pass(9_000);
  await heartbeat.close();
  assert.deepEqual(events, ['renewed', 'failed', 'renewed', 'lost', 'renewed']);
});

test('one renewal runs at a time, and none starts after the heartbeat is closed', async (t) => {
  const first = Promise.withResolvers<boolean>();
  const { heartbeat, events, pass } = openHeartbeat(t, () => first.promise);
  heartbeat.renewNow();
  heartbeat.renewNow();
  await pass(10);
  assert.deepEqual(events, ['renewed'], 'the second one waits for the first');
  const closed = heartbeat.close();
  first.resolve(true);
  await closed;
  await pass(20_000);
  assert.deepEqual(events, ['renewed']);
});
