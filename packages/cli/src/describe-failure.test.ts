import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError, Quartermaster } from '@quartermaster/client';
import { describeFailure } from './describe-failure.ts';
import { exitCodeMeanings, exitCodes } from './exit-codes.ts';

test('a command that no service answers names the address that it tried', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  server.close();
  await once(server, 'close');
  const url = `http://127.0.0.1:${address.port}`;
  const error = await new Quartermaster({ baseUrl: url, maxRetries: 0 }).files
    .list()
    .catch((failure: unknown) => failure);
  const { message, exitCode } = describeFailure(error);
  assert.match(
    message,
    /^No Quartermaster service answers\. The connection to http:\/\/127\.0\.0\.1:\d+ failed: .*\. Check the address, or start the service\.$/,
  );
  assert.equal(exitCode, exitCodes.unavailable);
});

test('each status of the service has an exit code, and every exit code is documented', () => {
  const codes = [
    [401, 77],
    [403, 77],
    [404, 66],
    [409, 65],
    [413, 65],
    [422, 65],
    [429, 75],
    [500, 70],
    [502, 69],
    [503, 69],
    [507, 69],
  ] as const;
  for (const [status, expected] of codes) {
    const failure = describeFailure(new ApiError(status, { code: 'OBJECT_NOT_FOUND', message: 'No.' }));
    assert.deepEqual([status, failure.exitCode, failure.message], [status, expected, 'OBJECT_NOT_FOUND: No.']);
  }
  const repeated = new ApiError(409, { code: 'DUPLICATE_OBJECT', message: 'No.' }, { retryAfterMs: 1 });
  assert.equal(describeFailure(repeated).exitCode, exitCodes.tryAgain);
  assert.deepEqual(describeFailure(new Error('No.')), { message: 'No.', exitCode: exitCodes.failed });
  for (const code of Object.values(exitCodes)) assert.ok(exitCodeMeanings[code] !== undefined, `${code}`);
});

test('an error about a missing file names the file and the remedy', async () => {
  const missing = join(import.meta.dirname, 'missing', 'key');
  const error = await readFile(missing).catch((failure: unknown) => failure);
  assert.deepEqual(describeFailure(error), {
    message: `${missing} does not exist. Check the path.`,
    exitCode: exitCodes.notFound,
  });
});

test('an error of the service names the options of the command instead of the paths of the request', () => {
  const describe = (message: string) =>
    describeFailure(new ApiError(422, { code: 'REQUEST_VALIDATION_ERROR', message })).message;
  assert.equal(
    describe('query/limit must be at most 100; received 1000.'),
    'REQUEST_VALIDATION_ERROR: --limit must be at most 100; received 1000.',
  );
  assert.match(describe('query/bundle_id must be a string.'), /: --bundle must be a string\.$/);
  assert.match(describe('body/input_params/expression is required.'), /: input expression is required\.$/);
  assert.match(describe('body/credentials/api_key is required.'), /: credential api_key is required\.$/);
  for (const sentence of ['GET /v1/bundles lists the bundles.', 'GET /v1/bundles/{bundle_id} lists its plugins.']) {
    assert.match(describe(`Unknown. ${sentence}`), /: Unknown\. Run ".*quartermaster.* plugins list" to see all\.$/);
  }
});

test('the details of an error of the service are kept for --json', () => {
  const details = [{ run_id: 'run0123456789' }];
  assert.deepEqual(
    describeFailure(new ApiError(500, { code: 'PLUGIN_FAILED', message: 'No.', details })).details,
    details,
  );
  assert.equal('details' in describeFailure(new ApiError(500, { code: 'PLUGIN_FAILED', message: 'No.' })), false);
});
