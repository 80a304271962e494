import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import {
  createEncrypter,
  createEncryptionKey,
  readEncryptionKey,
} from '../../access/credential-profiles/encryption.ts';
import { systemClock } from '../../platform/clock.ts';
import { createIdempotency } from '../../platform/idempotency/idempotency.ts';
import type { KeyedHashes } from '../../platform/keyed-hash.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { openTemporaryDatabase } from '../../storage/database/testing/open-temporary-database.ts';
import {
  createIdempotencyRepository,
  type KeptAnswerLimits,
} from '../../storage/repositories/idempotency-repository.ts';
import { createAnswerKeyRepository } from '../../storage/repositories/store-repository.ts';
import { openAnswerHashes } from './answer-hashes.ts';
import { resultOf } from './answers.ts';
import type { Execution } from './outcome.ts';
import { createRunOnce, maxStoredBytes } from './run-once.ts';

const place = { projectId: null, key: 'order-1', keyId: null };
const request = {
  bundle_id: 'echo',
  plugin_id: 'echo',
  input_params: { q: 1 },
  credentials: { KEY: 'of the first caller' },
};

function execution(output: unknown): Execution {
  return {
    runId: 'run_1',
    durationMs: 1,
    outcome: { kind: 'succeeded', output, violations: [] } as never,
    isRepeatable: false,
  };
}

async function open(t: TestContext, hashes: KeyedHashes = encrypterOf().hashes, limits?: KeptAnswerLimits) {
  const logger = createLogger('silent');
  const { database, close } = await openTemporaryDatabase();
  t.after(close);
  const repository = createIdempotencyRepository(database, limits);
  const idempotency = createIdempotency({ repository, clock: systemClock, logger });
  const rows = () => database.read.selectFrom('idempotency').selectAll().execute();
  return { once: createRunOnce({ idempotency, isRepeatable: () => false, hashes }), database, rows };
}

function newKey() {
  return readEncryptionKey(createEncryptionKey()) ?? assert.fail();
}

function encrypterOf() {
  return createEncrypter(newKey());
}

test('a response above 1.25 MiB is returned once and not stored; a repeated request gets 409 and runs nothing', async (t) => {
  const { once, rows } = await open(t);
  const text = 'x'.repeat(2_000_000);
  const first = await once.runOnce(place, request, async () => execution({ text }));
  assert.deepEqual(first.data, { text });
  const [row] = await rows();
  assert.ok((row?.answer?.length ?? 0) < 200, 'what is stored is small');
  const again = once.runOnce(place, request, async () => assert.fail('it ran again'));
  await assert.rejects(again, { code: 'DUPLICATE_OBJECT', message: /run_1 .*has ended/ });
});

test('the limit kept_answer_bytes stores a response of exactly its size and none that is a byte longer', async (t) => {
  const { once } = await open(t);
  const frame = Buffer.byteLength(JSON.stringify({ result: resultOf(execution({ text: '' })) }));
  const repeat = async (key: string, bytes: number) => {
    const text = 'x'.repeat(bytes - frame);
    await once.runOnce({ ...place, key }, request, async () => execution({ text }));
    return await once.runOnce({ ...place, key }, request, runsAgain);
  };
  assert.equal((await repeat('at the limit', maxStoredBytes)).run_id, 'run_1');
  await assert.rejects(repeat('above it', maxStoredBytes + 1), { code: 'DUPLICATE_OBJECT' });
});

test('a response that exceeds the space of its project is returned once; a repeated request gets 409 with the reason and runs nothing', async (t) => {
  let exceeded = 0;
  const limits = { maxBytes: 1000, onExceeded: () => exceeded++ };
  const { once } = await open(t, undefined, limits);
  const text = 'x'.repeat(600);
  for (const key of ['first', 'second'])
    assert.deepEqual((await once.runOnce({ ...place, key }, request, async () => execution({ text }))).data, { text });
  assert.equal(exceeded, 1);
  assert.deepEqual((await once.runOnce({ ...place, key: 'first' }, request, runsAgain)).data, { text });
  await assert.rejects(once.runOnce({ ...place, key: 'second' }, request, runsAgain), {
    code: 'DUPLICATE_OBJECT',
    message: /run_1 .*has ended, and its response was not stored because the stored responses of the project/,
  });
  const elsewhere = { ...place, projectId: 'other', key: 'second' };
  assert.deepEqual((await once.runOnce(elsewhere, request, async () => execution({ text }))).data, { text });
  assert.deepEqual((await once.runOnce(elsewhere, request, runsAgain)).data, { text });
});

const other = { ...request, credentials: { KEY: 'of another caller' } };
const runsAgain = async () => assert.fail('it ran again');

test('the hash of a stored response depends on the key of the store', async (t) => {
  const encrypter = encrypterOf();
  const { once, rows } = await open(t, encrypter.hashes);
  await once.runOnce(place, request, async () => execution({ private: true }));
  const [row] = await rows();
  const tag = row?.fingerprint?.split('.')[1] ?? '';
  assert.match(tag, /^[0-9a-f]{32}$/);
  const text = `- order-1\n${JSON.stringify(request.credentials)}`;
  assert.deepEqual(encrypter.hashes(text), [tag]);
  assert.notDeepEqual(encrypterOf().hashes(text), [tag]);
  assert.notEqual(createHash('sha256').update(text).digest('hex').slice(0, 32), tag);
});

test('ten requests with other credentials result in 422; then the key is closed, also for the right ones', async (t) => {
  const { once } = await open(t);
  await once.runOnce(place, request, async () => execution({ private: true }));
  for (let n = 0; n < 10; n++) {
    const guess = { ...request, credentials: { KEY: `guess ${n}` } };
    await assert.rejects(once.runOnce(place, guess, runsAgain), { code: 'REQUEST_VALIDATION_ERROR' });
  }
  for (const late of [other, request])
    await assert.rejects(once.runOnce(place, late, runsAgain), {
      code: 'DUPLICATE_OBJECT',
      message: /10 requests with other content or credentials/,
    });
});

test('another API key with the same Idempotency-Key and arguments starts a separate run and does not affect the key of the first caller', async (t) => {
  const { once } = await open(t);
  const [mine, theirs] = [
    { ...place, keyId: 'mine' },
    { ...place, keyId: 'theirs' },
  ];
  const outputOf = async (place: typeof mine, output: unknown) =>
    (await once.runOnce(place, request, async () => execution(output))).data;
  assert.deepEqual(await outputOf(mine, { of: 'mine' }), { of: 'mine' });
  assert.deepEqual(await outputOf(theirs, { of: 'theirs' }), { of: 'theirs' });
  for (let n = 0; n < 11; n++) await assert.rejects(once.runOnce(theirs, other, runsAgain));
  await assert.rejects(once.runOnce(theirs, request, runsAgain), { code: 'DUPLICATE_OBJECT' });
  assert.deepEqual((await once.runOnce(mine, request, runsAgain)).data, { of: 'mine' });
});

test('after a change of the encryption key, a stored response is returned to its caller only', async (t) => {
  const [before, now] = [newKey(), newKey()];
  const { once, database } = await open(t, createEncrypter(before).hashes);
  await once.runOnce(place, request, async () => execution({ private: true }));
  const repository = createIdempotencyRepository(database);
  const idempotency = createIdempotency({ repository, clock: systemClock, logger: createLogger('silent') });
  const open2 = (hashes: KeyedHashes) => createRunOnce({ idempotency, isRepeatable: () => false, hashes });
  const rotated = open2(createEncrypter(now, [before]).hashes);
  assert.deepEqual((await rotated.runOnce(place, request, runsAgain)).data, { private: true });
  await assert.rejects(rotated.runOnce(place, other, runsAgain), { code: 'REQUEST_VALIDATION_ERROR' });
  await assert.rejects(open2(createEncrypter(now).hashes).runOnce(place, request, runsAgain), {
    code: 'REQUEST_VALIDATION_ERROR',
  });
});

test('without an encryption key all processes on a database hash with one secret of the database', async (t) => {
  const { database } = await open(t);
  const repository = createAnswerKeyRepository(database);
  const [first, second] = await Promise.all([openAnswerHashes(null, repository), openAnswerHashes(null, repository)]);
  assert.deepEqual(first('text'), second('text'));
  assert.match(first('text')[0] ?? '', /^[0-9a-f]{32}$/);
  const encrypter = encrypterOf();
  const later = await openAnswerHashes(encrypter.hashes, repository);
  assert.deepEqual(later('text'), [...encrypter.hashes('text'), ...first('text')]);
});
