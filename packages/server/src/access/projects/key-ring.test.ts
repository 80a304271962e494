import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../platform/clock.ts';
import { createLogger, type Logger } from '../../platform/log/logger.ts';
import { createApiKey, hashApiKey } from './api-key.ts';
import { openKeyRing } from './key-ring.ts';
import type { ProjectRepository, StoredKey } from './project-repository.ts';

test('a failure of every refresh, such as a full disk causes, is logged once a minute', async () => {
  const lines: unknown[] = [];
  const { promise: failedOften, resolve } = Promise.withResolvers<void>();
  let loads = 0;
  const repository = new Proxy({} as ProjectRepository, {
    get: () => async () => {
      loads += 1;
      if (loads === 12) resolve();
      if (loads > 2) throw new Error('the disk is full');
      return { number: 1, isWhole: true, keys: [] };
    },
  });
  const logger = { warn: (_: object, message: string) => lines.push(message) } as unknown as Logger;
  const ring = await openKeyRing({ repository, clock: systemClock, logger, refreshMs: 1 });
  await failedOften;
  await ring.close();
  assert.deepEqual(lines, ['keys not refreshed']);
});

const key = createApiKey();
const stored: StoredKey = {
  ...{ id: 'key', projectId: 'project', name: 'key', hash: hashApiKey(key), hint: '', scopes: ['files'] },
  ...{
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    makerId: null,
    replaced: [],
    collections: null,
    tools: null,
  },
};

test('a load of all keys drops those that no longer exist', async () => {
  let keys = [stored];
  // members that the ring uses
  const repository = {
    changedKeys: async () => ({ number: 1, isWhole: true, keys }),
    touchKeys: async () => undefined,
  } as unknown as ProjectRepository;
  const ring = await openKeyRing({ repository, clock: systemClock, logger: createLogger('silent'), refreshMs: 60_000 });
  assert.equal((await ring.authenticate(`Bearer ${key}`)).keyId, 'key');
  keys = [];
  await ring.refresh();
  await assert.rejects(ring.authenticate(`Bearer ${key}`), { code: 'APIKEY_VALIDATION_FAILED' });
  await ring.close();
});

test('the keys are closed although their last uses cannot be stored', async () => {
  const lines: unknown[] = [];
  const repository = {
    changedKeys: async () => ({ number: 1, isWhole: true, keys: [stored] }),
    touchKeys: () => Promise.reject(new Error('The database cannot be reached.')),
  } as unknown as ProjectRepository; // members that the ring uses
  const logger = { warn: (_: object, message: string) => lines.push(message) } as unknown as Logger;
  const ring = await openKeyRing({ repository, clock: systemClock, logger, refreshMs: 60_000 });
  await ring.authenticate(`Bearer ${key}`);
  await ring.close();
  assert.deepEqual(lines, ['last uses of keys not stored']);
});
