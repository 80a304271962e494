import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { reservePort } from './listen.ts';

test('no other program gets a reserved port until it is released', async () => {
  const { port, release } = await reservePort('127.0.0.1');
  const early = createServer().listen(port, '127.0.0.1');
  await assert.rejects(once(early, 'listening'), { code: 'EADDRINUSE' });
  await release();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
});
