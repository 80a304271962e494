import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '../../platform/log/logger.ts';
import { createAvailability } from './postgres-availability.ts';

test('a connection already lent is not treated as late when the database then becomes unavailable', async () => {
  const probed = Promise.withResolvers<void>();
  const work = Promise.withResolvers<string>();
  const availability = createAvailability({ probe: () => probed.promise, logger: createLogger('silent') });
  availability.suspect(new Error('silent'));
  // This handler runs before the one that lends the connection, so the failed probe follows directly.
  void work.promise.then(() => probed.reject(new Error('away')));
  const late: string[] = [];
  const lent = availability.whileAvailable(work.promise, (connection) => late.push(connection));
  work.resolve('connection');
  assert.equal(await lent, 'connection');
  await new Promise(setImmediate);
  assert.throws(() => availability.assert(), /./);
  assert.deepEqual(late, []);
  await availability.close();
});

test('a probe that fails because this process stood still does not make the database unavailable, but three do', async (t) => {
  for (const [stalls, isAvailable] of [
    [2, true],
    [3, false],
  ] as const) {
    let probes = 0;
    const ended = Promise.withResolvers<void>();
    const probe = async () => {
      probes += 1;
      if (probes > stalls) return isAvailable ? ended.resolve() : await new Promise<void>(() => {});
      await standStill();
      if (probes === 3) setImmediate(ended.resolve);
      throw new Error('timeout expired');
    };
    const availability = createAvailability({ probe, logger: createLogger('silent'), pauseMs: 1, stallMs: 50 });
    t.after(() => void availability.close());
    availability.suspect(new Error('silent'));
    await ended.promise;
    if (isAvailable) availability.assert();
    else assert.throws(() => availability.assert(), /cannot be reached/);
  }
});

/** Blocks the event loop for longer than the test allows, and lets its measurement notice. */
async function standStill(): Promise<void> {
  await setTimeout(30);
  const until = performance.now() + 150;
  while (performance.now() < until);
  await setTimeout(1);
}
