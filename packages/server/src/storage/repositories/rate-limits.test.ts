import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseFor } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { RateLimitRepository } from '../../platform/admission/rate-rules.ts';
import { createRates } from '../../platform/admission/rates.ts';
import { type OpenedRates, testRates } from '../../platform/admission/testing/rates.suite.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDatabase } from '../open-database.ts';
import { createProjectRepository } from './project-repository.ts';
import { createRateLimitRepository } from './rate-limit-repository.ts';

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`rate limits in ${name}`, () => {
    let opened: OpenedRates & { close(): Promise<void> };
    before(async () => {
      const { database, close } = await open();
      const projects = createProjectRepository(database);
      await projects.addProject({ id: 'proj1', name: 'tea', createdAt: 1 }, { most: 10 });
      for (const id of ['apik1', 'apik2']) {
        const none = { expiresAt: null, revokedAt: null, lastUsedAt: null, makerId: null };
        const grant = { scopes: [], collections: null, tools: null, replaced: [] };
        const key = { id, projectId: 'proj1', name: id, hash: id, hint: '', createdAt: 1, ...none, ...grant };
        await projects.addKey(key, { now: 1, most: 10 });
      }
      const repository = createRateLimitRepository(database);
      let statements = 0;
      const counted: RateLimitRepository = {
        ...repository,
        take: (request) => {
          statements += 1;
          return repository.take(request);
        },
      };
      opened = { repository: counted, projectId: 'proj1', statements: () => statements, close };
    });
    after(() => opened.close());

    testRates(() => opened);
  });
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  test(`two processes with connections of their own start at most a limit, by the clock that they share: ${kind}`, async (t) => {
    const folder = await temporaryFolder(t);
    const url = kind === 'SQLite' ? null : await databaseFor(t);
    const ahead = kind === 'SQLite' ? {} : { clock: { now: () => Date.now() + 30_000 } };
    const opened = [];
    for (const clock of [{}, ahead]) {
      const logger = createLogger('silent');
      const database = await openDatabase({ admission: createAdmission(), url, dataFolder: folder, logger, ...clock });
      t.after(() => database.close());
      const repository = createRateLimitRepository(database);
      const rates = createRates({ repository, clock: database.clock, logger, metrics: createMetrics() });
      opened.push({ database, repository, rates });
    }
    const [{ database, repository }] = opened as [(typeof opened)[number]];
    await createProjectRepository(database).addProject({ id: 'proj1', name: 'tea', createdAt: 1 }, { most: 10 });
    const rule = { id: 'rate1', projectId: 'proj1', subjectId: null, tool: null, perMinute: null, createdAt: 1 };
    await repository.addRule({ ...rule, perDay: 50 }, 10);
    const owner = { projectId: 'proj1', keyId: 'apik1' };
    const taken = await Promise.allSettled(
      opened.flatMap(({ rates }) => {
        const loaded = rates.load();
        return Array.from({ length: 100 }, async () => {
          await loaded;
          await rates.take(owner, null);
        });
      }),
    );
    const started = taken.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(started >= 45 && started <= 50, `${started} of 200 calls with the limit 50`);
    const refusals = taken.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    assert.deepEqual([...new Set(refusals)], ['RESOURCE_LIMIT_REACHED']);
    const [one, other] = opened.map((process) => process.database.clock.now());
    assert.ok(Math.abs((one ?? 0) - (other ?? 0)) < 15_000, 'the clock of a machine does not decide');
  });
}
