import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { whileConnected } from '../client-gone.ts';

test('the work for a client ends when it disconnects, and other errors are answered', async () => {
  const app = fastify();
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const errors: unknown[] = [];
  app.addHook('onError', async (_request, _reply, error) => void errors.push(error.message));
  app.get('/wait', (_request, reply) =>
    whileConnected(reply, async (signal) => {
      begun.resolve();
      await once(signal, 'abort');
      ended.resolve(signal.reason);
      throw signal.reason;
    }),
  );
  app.get('/fail', (_request, reply) => whileConnected(reply, () => Promise.reject(new Error('broken'))));
  app.get('/answer', (_request, reply) => whileConnected(reply, async (signal) => ({ aborted: signal.aborted })));
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  try {
    const socket = connect(Number(url.port), '127.0.0.1');
    socket.write('GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await begun.promise;
    socket.destroy();
    assert.equal(((await ended.promise) as Error).name, 'AbortError');
    assert.equal((await fetch(new URL('/fail', url))).status, 500);
    assert.deepEqual(await (await fetch(new URL('/answer', url))).json(), { aborted: false });
    assert.deepEqual(errors, ['broken']);
  } finally {
    await app.close();
  }
});
