import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { Logger } from '../log/logger.ts';
import { identify } from '../log/request-identity.ts';
import { createStreamAccess } from './stream-access.ts';

const intervalMs = 5;

/**
 * Opens a stream with a key.
 * @param findUsable receives the number of the check
 */
async function openStream(t: TestContext, findUsable: (check: number) => Promise<ReadonlySet<string>>) {
  const lines: string[] = [];
  const note = (_fields: unknown, message: string) => void lines.push(message);
  const logger = { info: note, warn: note } as unknown as Logger; // the methods that the code calls
  let checks = 0;
  const streams = createStreamAccess({ findUsable: async () => await findUsable(++checks), logger, intervalMs });
  t.after(() => streams.close());
  const opened = Promise.withResolvers<ServerResponse>();
  const server = createServer((raw, response) => {
    const request = { id: 'r', ip: '127.0.0.1', raw };
    identify(request, { key: 'key_a' });
    streams.watch(request, response);
    response.write('first');
    opened.resolve(response);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  get({ host: '127.0.0.1', port: address.port })
    .on('error', () => {})
    .on('response', (answer) => {
      answer.on('error', () => {}).resume();
    });
  const response = await opened.promise;
  return { response, lines, checks: () => checks };
}

test('a stream ends when 25 checks of its key fail because of the database', async (t) => {
  const { response, lines } = await openStream(t, async () => {
    throw new Error('the database is away');
  });
  await once(response, 'close');
  assert.equal(lines.indexOf('stream ended: its key or session could not be checked'), 25);
  assert.deepEqual([...new Set(lines.slice(0, 25))], ['stream access not checked']);
});

test('a stream ends when the database does not answer', async (t) => {
  const { response, lines, checks } = await openStream(t, () => new Promise(() => {}));
  await once(response, 'close');
  assert.deepEqual([checks(), lines], [1, ['stream ended: its key or session could not be checked']]);
});

test('a stream stays open when the database answers again in time', async (t) => {
  const later = Promise.withResolvers<void>();
  const { response, lines } = await openStream(t, async (check) => {
    if (check === 70) later.resolve();
    if (check % 20 !== 0) throw new Error('the database is away');
    return new Set(['key_a']);
  });
  await later.promise;
  assert.equal(response.destroyed, false);
  assert.deepEqual([...new Set(lines)], ['stream access not checked']);
  response.destroy();
});
