import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ApiError, createClient } from '@quartermaster/client';
import { describeFailure } from './describe-failure.ts';

test('a command whose service is not there says so, and where it looked', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  server.close();
  await once(server, 'close');
  const url = `http://127.0.0.1:${address.port}`;
  const error = await createClient({ filesUrl: url, pluginsUrl: url })
    .runs.list()
    .catch((failure: unknown) => failure);
  const said = describeFailure(error);
  assert.match(said, /^the service does not answer \(.*127\.0\.0\.1:\d+\)\. Is it running\? --url says where\.$/);
  assert.equal(
    describeFailure(new ApiError(404, { code: 'OBJECT_NOT_FOUND', message: 'No.' })),
    'OBJECT_NOT_FOUND: No.',
  );
  assert.equal(describeFailure(new Error('--since: "x" is no time')), '--since: "x" is no time');
});
