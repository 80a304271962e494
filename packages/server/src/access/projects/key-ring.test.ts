import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { openKeyRing } from './key-ring.ts';
import type { ProjectRepository } from './project-repository.ts';

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
  await ring.close().catch(() => undefined);
  assert.deepEqual(lines, ['keys not refreshed']);
});
