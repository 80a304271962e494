import { after, before, describe } from 'node:test';
import type { RateLimitRepository } from '../../platform/admission/rate-rules.ts';
import { type OpenedRates, testRates } from '../../platform/admission/testing/rates.suite.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
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
