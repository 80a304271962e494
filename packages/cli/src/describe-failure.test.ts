import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError, createClient } from '@quartermaster/client/api';
import { describeFailure } from './describe-failure.ts';

test('a command that no service answers names the address that it tried', async () => {
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
  const message = describeFailure(error);
  assert.match(
    message,
    /^No Quartermaster service answers \(.*127\.0\.0\.1:\d+\)\. Start it, or set its address with --url\.$/,
  );
  assert.equal(
    describeFailure(new ApiError(404, { code: 'OBJECT_NOT_FOUND', message: 'No.' })),
    'OBJECT_NOT_FOUND: No.',
  );
  assert.equal(describeFailure(new Error('--since must be a time.')), '--since must be a time.');
});

test('an error about a missing file names the file and the remedy', async () => {
  const missing = join(import.meta.dirname, 'missing', 'key');
  const error = await readFile(missing).catch((failure: unknown) => failure);
  assert.equal(describeFailure(error), `${missing} does not exist. Check the path.`);
});
