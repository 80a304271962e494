import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../kernel/log/logger.ts';
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
