import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import {
  type OpenedProfiles,
  testCredentialProfileRepository,
} from '../../access/credential-profiles/testing/credential-profile-repository.suite.ts';
import { createNewId } from '../../kernel/identifier.ts';
import { createLogger } from '../../kernel/log/logger.ts';
import { openDatabase } from '../database/open-database.ts';
import { createCredentialProfileRepository } from './credential-profile-repository.ts';
import { createProjectRepository } from './project-repository.ts';

const newId = createNewId();

const places = {
  SQLite: async () => {
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'quartermaster-profiles-'));
    return { url: null, dataFolder, remove: () => rm(dataFolder, { recursive: true }) };
  },
  PostgreSQL: async () => {
    const testing = await createTestDatabase();
    return { url: testing.url, dataFolder: '/unused', remove: () => testing.drop() };
  },
};

for (const [name, prepare] of Object.entries(places)) {
  describe(`credential profiles in ${name}`, () => {
    let opened: OpenedProfiles & { close(): Promise<void> };
    before(async () => {
      const { url, dataFolder, remove } = await prepare();
      const database = await openDatabase({ url, dataFolder, logger: createLogger('silent') });
      const projects = createProjectRepository(database);
      opened = {
        repository: createCredentialProfileRepository(database),
        async newProject() {
          const id = newId('project');
          await projects.addProject({ id, name: id, createdAt: 1 }, { most: 1_000 });
          return id;
        },
        async close() {
          await database.close();
          await remove();
        },
      };
    });
    after(() => opened.close());

    testCredentialProfileRepository(() => opened);
  });
}
