import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createAdmission } from '../admission/admission.ts';
import { createLogger } from '../log/logger.ts';
import { Problem } from '../problem.ts';
import { createIdempotency, readIdempotencyKey } from './idempotency.ts';
import type { ClaimOutcome, CompletedClaim, HeldClaim, IdempotencyRepository } from './idempotency-repository.ts';

/** Holds one key in memory and behaves like the repositories of the suite. */
function createMemory(): IdempotencyRepository & { row: HeldClaim | CompletedClaim | undefined } {
  const isHeld = (claim: HeldClaim) =>
    memory.row !== undefined && !('answer' in memory.row) && memory.row.heldUntil === claim.heldUntil;
  const memory: ReturnType<typeof createMemory> = {
    row: undefined,
    async claim(claim, now): Promise<ClaimOutcome> {
      const { row } = memory;
      if (row !== undefined && 'answer' in row && row.expiresAt > now) return { kind: 'answered' };
      if (row !== undefined && !('answer' in row) && row.heldUntil > now) return { kind: 'running', elsewhere: false };
      memory.row = claim;
      return { kind: 'claimed' };
    },
    async compare(_request, fingerprints) {
      const { row } = memory;
      if (row === undefined || !('answer' in row)) return { kind: 'forgotten' };
      return fingerprints.includes(row.fingerprint) ? { kind: 'same', answer: row.answer } : { kind: 'other' };
    },
    async renew(claim, heldUntil) {
      if (!isHeld(claim)) return false;
      memory.row = { ...claim, heldUntil };
      return true;
    },
    async complete(claim) {
      if (!isHeld(claim)) return false;
      memory.row = claim;
      return true;
    },
    async release(claim) {
      if (isHeld(claim)) memory.row = undefined;
    },
    sweep: async () => 0,
  };
  return memory;
}

const request = { projectId: 'projecta', operation: 'execute', key: 'k', callerId: '', isRepeatable: true } as const;
const logger = createLogger('silent');

describe('idempotency', () => {
  test('a running request blocks its key; its answer is replayed to the same content only', async () => {
    const idempotency = createIdempotency({ repository: createMemory(), clock: { now: () => 1 }, logger });
    const running = await idempotency.begin(request);
    assert.ok(running.kind === 'running');
    await assert.rejects(
      idempotency.begin(request),
      (error: unknown) => error instanceof Problem && error.status === 409,
    );
    assert.equal(await running.finish('print', { a: [1] }), true);
    await running.release();
    const again = await idempotency.begin(request);
    assert.ok(again.kind === 'answered');
    assert.deepEqual(await again.replay(['another', 'print']), { a: [1] });
    await assert.rejects(again.replay(['other']), (error: unknown) => error instanceof Problem && error.status === 422);
  });

  test('a claim is renewed while its request runs, and can be completed afterwards', async (t) => {
    t.mock.timers.enable({ apis: ['Date', 'setInterval'] });
    const repository = createMemory();
    const clock = { now: () => Date.now() };
    const idempotency = createIdempotency({ repository, clock, logger, times: { lease: 60, memory: 1000 } });
    const running = await idempotency.begin(request);
    assert.ok(running.kind === 'running');
    const first = repository.row?.heldUntil ?? 0;
    while (Date.now() <= first) {
      t.mock.timers.tick(20);
      await turn();
    }
    await assert.rejects(idempotency.begin(request), Problem);
    assert.ok((repository.row?.heldUntil ?? 0) > first);
    assert.equal(await running.finish('print', 1), true);
  });

  test('a request whose claim was lost does not store its answer', async () => {
    const repository = createMemory();
    let now = 1;
    const idempotency = createIdempotency({ repository, clock: { now: () => now }, logger });
    const slow = await idempotency.begin(request);
    assert.ok(slow.kind === 'running');
    now = 40_000;
    const other = await idempotency.begin(request);
    assert.ok(other.kind === 'running');
    assert.equal(await slow.finish('print', 'slow'), false);
    assert.equal(await other.finish('print', 'other'), true);
  });

  test('a released key is free, also when its answer could not be stored', async () => {
    const idempotency = createIdempotency({ repository: createMemory(), clock: { now: () => 1 }, logger });
    const running = await idempotency.begin(request);
    assert.ok(running.kind === 'running');
    await running.complete('print', 1);
    await running.release();
    const next = await idempotency.begin(request);
    assert.ok(next.kind === 'running');
    await next.release();
  });

  test('an idempotency key has 1 to 255 printable characters', () => {
    assert.equal(readIdempotencyKey(undefined), undefined);
    assert.equal(readIdempotencyKey('x'.repeat(255)), 'x'.repeat(255));
    for (const bad of ['', 'x'.repeat(256), 'ü', 'a\nb', ['a', 'b']])
      assert.throws(() => readIdempotencyKey(bad), Problem);
  });
});

test('a request waits for the one of another node and gets its answer, and a key whose outcome is unknown is refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const outcomes: ClaimOutcome[] = [
    { kind: 'running', elsewhere: true },
    { kind: 'running', elsewhere: true },
    { kind: 'answered' },
    { kind: 'unknown' },
    { kind: 'running', elsewhere: false },
  ];
  const repository = { ...createMemory(), claim: async () => outcomes.shift() ?? assert.fail() };
  const idempotency = createIdempotency({
    repository,
    clock: { now: () => 1 },
    logger,
    nodeId: 'node',
    admission: createAdmission(),
  });
  let isOver = false;
  const first = idempotency.begin(request).finally(() => {
    isOver = true;
  });
  await turn();
  assert.equal(outcomes.length, 4, 'it waits before it asks again');
  while (!isOver) {
    t.mock.timers.tick(1000);
    await turn();
  }
  assert.equal((await first).kind, 'answered');
  assert.equal(outcomes.length, 2);
  const unknown = (error: unknown) => error instanceof Problem && /outcome .* is unknown/.test(error.message);
  await assert.rejects(idempotency.begin(request), unknown);
  await assert.rejects(idempotency.begin(request), { status: 409 });
});

test('a request that may have acted keeps its key, unless it may be repeated', async () => {
  for (const isRepeatable of [true, false]) {
    const repository = createMemory();
    repository.complete = async () => assert.fail('the database failed');
    let now = 1;
    const idempotency = createIdempotency({ repository, clock: { now: () => now }, logger });
    const running = await idempotency.begin({ ...request, isRepeatable });
    now = Number.MAX_SAFE_INTEGER; // the claim is over, so that nothing is repeated
    assert.ok(running.kind === 'running');
    const finished = running.finish('print', 1);
    if (isRepeatable) await assert.rejects(finished);
    else assert.equal(await finished, false);
    await running.release(true);
    assert.equal(repository.row === undefined, isRepeatable);
  }
});

test('the answer of a request that cannot be repeated is stored as soon as the database can be reached', async () => {
  const memory = createMemory();
  const { complete } = memory;
  let failures = 2;
  const stored = Promise.withResolvers<void>();
  memory.complete = async (claim) => {
    if (failures-- > 0) throw new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached.');
    const isStored = await complete(claim);
    stored.resolve();
    return isStored;
  };
  const idempotency = createIdempotency({ repository: memory, clock: { now: () => 1 }, logger });
  const running = await idempotency.begin({ ...request, isRepeatable: false });
  assert.ok(running.kind === 'running');
  assert.equal(await running.finish('print', 7), false);
  await running.release(true);
  await stored.promise;
  const again = await idempotency.begin(request);
  assert.ok(again.kind === 'answered');
  assert.equal(await again.replay(['print']), 7);
});

test('while the commit of a request is in doubt, its key gets 503, and it is free as soon as the database can be reached', async () => {
  const memory = createMemory();
  const { release } = memory;
  let failures = 2;
  const attempts: number[] = [];
  const released = Promise.withResolvers<void>();
  memory.release = async (claim) => {
    attempts.push(failures);
    if (failures-- > 0) throw new Problem('SERVICE_UNAVAILABLE', 'The database cannot be reached.');
    await release(claim);
    released.resolve();
  };
  const idempotency = createIdempotency({ repository: memory, clock: { now: () => 1 }, logger });
  const running = await idempotency.begin(request);
  assert.ok(running.kind === 'running');
  running.releaseLater();
  await assert.rejects(idempotency.begin(request), { code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } });
  await released.promise;
  assert.deepEqual(attempts, [2, 1, 0]);
  const again = await idempotency.begin(request);
  assert.equal(again.kind, 'running');
  await turn();
  await assert.rejects(idempotency.begin(request), { status: 409 });
  if (again.kind === 'running') await again.release();
});
