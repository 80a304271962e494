import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../kernel/log/logger.ts';
import { createAvailability } from './postgres-availability.ts';

test('a connection that was lent is not released as late when the database becomes unavailable at once', async () => {
  const probed = Promise.withResolvers<void>();
  const work = Promise.withResolvers<string>();
  const availability = createAvailability({ probe: () => probed.promise, logger: createLogger('silent') });
  availability.suspect(new Error('silent'));
  // Runs before the handlers of the lending, so that the failed probe is seen right after them.
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
