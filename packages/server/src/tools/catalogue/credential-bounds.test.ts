import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../platform/problem.ts';
import { openBench, secret } from '../execution/testing/execution.suite.ts';
import { endedRun } from '../runs/run-outcome.ts';
import { checkCredentialBounds, credentialLimits } from './credential-bounds.ts';

const { members, valueBytes, totalBytes } = credentialLimits;
const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${String(index).padStart(2, '0')}`, value]));

/** Credentials and the error that they cause. */
const tooLarge: Record<string, [credentials: Record<string, unknown>, found: RegExp]> = {
  'too many members': [
    many(members + 1, 'x'),
    /must be an object of at most 32 members; received an object of 33 members\./,
  ],
  'a text that is too long': [{ api_key: 'x'.repeat(valueBytes + 1) }, /values have at most 8192 bytes each/],
  'a text whose bytes are too many': [
    { api_key: '中'.repeat(valueBytes / 3 + 1) },
    /values have at most 8192 bytes each/,
  ],
  'a member that is not text': [
    { api_key: Array.from({ length: valueBytes }, () => 1) },
    /values have at most 8192 bytes each/,
  ],
  'too much together': [many(5, 'x'.repeat(totalBytes / 5)), /at most 32768 bytes in total; received 32780 bytes/],
  'a name that is too long': [{ ['n'.repeat(totalBytes)]: 'x' }, /received 32769 bytes/],
};

test('credentials at the bounds are accepted', () => {
  checkCredentialBounds(many(members, 'x'.repeat(totalBytes / members - 3)));
  checkCredentialBounds({ api_key: 'x'.repeat(valueBytes), other: { a: [1, null] } });
});

for (const [name, [credentials, found]] of Object.entries(tooLarge)) {
  test(`credentials with ${name} are refused before anything is computed from them`, async (t) => {
    assert.throws(
      () => checkCredentialBounds(credentials),
      (error) => error instanceof Problem && found.test(error.message),
    );
    const { app, execute, server } = await openBench(t, (_request, response) => response.end('{}'));
    const post = async (url: string, payload: object, headers: Record<string, string> = {}) => {
      const answer = await app.inject({ method: 'POST', url, payload, headers });
      return { status: answer.statusCode, ...answer.json().error };
    };
    for (const bundle_id of ['echo', 'free']) {
      const executed = await execute({ bundle_id, plugin_id: 'say', credentials }, { 'idempotency-key': 'k' });
      assert.deepEqual([executed.status, executed.body.error.code], [422, 'REQUEST_VALIDATION_ERROR']);
      assert.match(executed.body.error.message, found);
      assert.match((await post('/v1/verify_credentials', { bundle_id, credentials })).message, found);
    }
    const header = { 'x-plugin-credentials': Buffer.from(JSON.stringify(credentials)).toString('base64url') };
    const direct = await post('/v1/bundles/echo/plugins/say/execute', {}, header);
    assert.deepEqual([direct.status, direct.details[0].path], [422, 'headers/x-plugin-credentials']);
    assert.equal(server.connections(), 0);
  });
}

test('a credential that the bundle does not declare is neither checked, nor sent, nor redacted', async (t) => {
  const { execute, server } = await openBench(t, (_request, response) =>
    response.end('{"said":"undeclared-0123456789"}'),
  );
  for (const bundle_id of ['echo', 'free']) {
    const credentials = { api_key: secret, undeclared: 'undeclared-0123456789', other: { a: 1 } };
    const { status, body } = await execute({ bundle_id, plugin_id: 'plain', credentials });
    if (bundle_id === 'free') assert.equal(status, 404);
    else assert.deepEqual([status, body.data.data.said], [200, '{"said":"undeclared-0123456789"}']);
    const answer = await execute({ bundle_id, plugin_id: 'say', credentials });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.ok(server.requests.every(({ url }) => !url.includes('undeclared')));
  assert.equal(
    server.requests.filter(({ url }) => url.includes('key=')).length,
    2,
    'only those of the bundle that declares one',
  );
});

test('a response with a credential that has too many encodings fails the run, and none of it is returned', async (t) => {
  // At most 8 KiB, and almost every encoding writes each of these characters differently.
  const hostile = '"&中%/\'+ '.repeat(600);
  const { execute } = await openBench(t, (_request, response) => response.end(JSON.stringify({ said: hostile })));
  const { status, body, text } = await execute({
    bundle_id: 'wide',
    plugin_id: 'say',
    credentials: { api_key: hostile },
  });
  assert.deepEqual([status, body.error.code, body.error.details[0].outcome], [500, 'PLUGIN_FAILED', 'failed']);
  assert.match(body.error.message, /could not be searched for the credentials/);
  assert.ok(!text.includes('中'));
});

test('log lines, progress and output of a handler are withheld when they cannot be searched for the credentials', async (t) => {
  const { execute, log, ended } = await openBench(t, (_request, response) => response.end('{}'));
  const { status, body } = await execute({
    bundle_id: 'wide',
    plugin_id: 'chat',
    input_params: { q: 'é"é"é"é"é"é"' },
    // Its first characters alone lead to more notations than may be built.
    credentials: { api_key: 'é"'.repeat(2_700) },
  });
  assert.deepEqual([status, body.data.data.said], [200, 'done']);
  const lines = log.filter((line) => line.includes('"msg":"plugin logged"')).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ message, fields }) => ({ message, fields })),
    [{ message: '[redacted]', fields: undefined }],
  );
  assert.ok(!log.join('').includes('é'));
  const [run] = ended;
  assert.ok(run);
  const outcome = { kind: 'cancelled' } as const;
  const execution = { runId: run.runId, durationMs: 1, outcome, isRepeatable: true };
  assert.equal(endedRun(run, execution, { errorMessages: true, input: true }).end?.input, null);
});
