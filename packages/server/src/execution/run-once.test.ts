import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createIdempotencyRepository } from '../adapters/database/idempotency-repository.ts';
import { openDatabase } from '../adapters/database/open-database.ts';
import { createIdempotency } from '../idempotency/idempotency.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLogger } from '../kernel/logger.ts';
import { createSealer, makeSealingKey, readSealingKey } from '../profiles/sealing.ts';
import type { Execution } from './executor.ts';
import { createRunOnce } from './run-once.ts';

const place = { projectId: '-', key: 'order-1' };
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

async function open(t: TestContext, mac: ((text: string) => string) | null) {
  const dataFolder = await mkdtemp(join(tmpdir(), 'quartermaster-once-'));
  const logger = createLogger('silent');
  const database = await openDatabase({ url: null, dataFolder, logger });
  t.after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });
  const repository = createIdempotencyRepository(database);
  const idempotency = createIdempotency({ repository, clock: systemClock, logger });
  const rows = () => database.read.selectFrom('idempotency').selectAll().execute();
  return { once: createRunOnce({ idempotency, keep: repository.complete, mac }), rows };
}

function sealerOf() {
  const key = readSealingKey(makeSealingKey());
  assert.ok(key);
  return createSealer(key);
}

test('an answer above 64 KiB is given once and not stored; a repetition is 409 and runs nothing', async (t) => {
  const { once, rows } = await open(t, null);
  const text = 'x'.repeat(400_000);
  const first = await once.runOnce(place, request, async () => execution({ text }));
  assert.deepEqual(first.data, { text });
  const [row] = await rows();
  assert.ok((row?.answer?.length ?? 0) < 200, 'what is stored is small');
  const again = once.runOnce(place, request, async () => assert.fail('it ran again'));
  await assert.rejects(again, { code: 'DUPLICATE_OBJECT', message: /run_1 has ended/ });
});

test('with an encryption key no guess of 65,536 credentials gets the answer of another caller', async (t) => {
  const sealer = sealerOf();
  const { once, rows } = await open(t, (text) => sealer.mac(text));
  await once.runOnce(place, request, async () => execution({ private: true }));
  const [row] = await rows();
  const tag = row?.fingerprint?.split('.')[1] ?? '';
  assert.match(tag, /^[0-9a-f]{32}$/);
  const tags = new Set<string>();
  for (let n = 0; n < 65_536; n++) tags.add(sealer.mac(`- order-1\n{"KEY":"${n}"}`));
  assert.deepEqual([tags.size, tags.has(tag)], [65_536, false]);
  assert.equal(sealerOf().mac('text') === sealer.mac('text'), false, 'another key, another hash');
  const other = { ...request, credentials: { KEY: 'of another caller' } };
  await assert.rejects(
    once.runOnce(place, other, async () => assert.fail('it ran')),
    { code: 'REQUEST_VALIDATION_ERROR' },
  );
});
