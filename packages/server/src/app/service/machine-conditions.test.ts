import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noAudit } from '../../platform/audit/testing/no-audit.ts';
import { createApp } from '../../platform/http/create-app.ts';
import { createDrain } from '../../platform/http/drain.ts';
import { createRequestMetrics } from '../../platform/http/request-metrics.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { databaseFull, databaseReadOnly } from '../../storage/database/problems.ts';
import { diskFailure } from '../../storage/disk/problems.ts';

const systemError = (code: string) =>
  Object.assign(new Error(`${code}: write failed`), { code, syscall: 'write', errno: code === 'EDQUOT' ? -122 : -1 });

const conditions = {
  disk_full: [507, () => diskFailure(systemError('ENOSPC'))],
  disk_read_only: [503, () => diskFailure(systemError('EROFS'))],
  database_disk_full: [507, () => databaseFull(new Error('SQLITE_FULL'))],
  database_read_only: [503, () => databaseReadOnly(new Error('25006'))],
} as const;

test('a full or read-only disk is one warning without a stack for many requests, and other faults stay errors', async (t) => {
  const lines: string[] = [];
  const app = createApp({
    logger: createLogger('warn', { write: (line: string) => void lines.push(line) }),
    address: 'files',
    requestMetrics: createRequestMetrics(createMetrics()),
    drain: createDrain(),
    audit: noAudit,
    overHttps: false,
  });
  t.after(() => app.close());
  for (const [name, [, failure]] of Object.entries(conditions)) {
    app.get(`/v1/${name}`, async () => {
      throw failure();
    });
  }
  app.get('/v1/failed', async () => {
    throw diskFailure(systemError('EIO'));
  });
  for (const [name, [status]] of Object.entries(conditions)) {
    for (let request = 0; request < 3; request += 1) {
      assert.equal((await app.inject({ url: `/v1/${name}` })).statusCode, status, name);
    }
  }
  assert.equal(
    diskFailure(systemError('EDQUOT')) instanceof Error && (await app.inject({ url: '/v1/failed' })).statusCode,
    503,
  );
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    logged.map(({ level, condition, err }) => [level, condition, err === undefined]),
    [...Object.keys(conditions).map((name) => ['warn', name, true]), ['error', undefined, false]],
  );
  assert.equal(logged[0]?.reason, 'ENOSPC: write failed');
});
