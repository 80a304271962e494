import { after, before, describe } from 'node:test';
import {
  type OpenedProfiles,
  testCredentialProfileRepository,
} from '../../access/credential-profiles/testing/credential-profile-repository.suite.ts';
import { createNewId } from '../../platform/identifier.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createCredentialProfileRepository } from './credential-profile-repository.ts';
import { createProjectRepository } from './project-repository.ts';

const newId = createNewId();

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`credential profiles in ${name}`, () => {
    let opened: OpenedProfiles & { close(): Promise<void> };
    before(async () => {
      const { database, close } = await open();
      const projects = createProjectRepository(database);
      opened = {
        repository: createCredentialProfileRepository(database),
        async newProject() {
          const id = newId('project');
          await projects.addProject({ id, name: id, createdAt: 1 }, { most: 1_000 });
          return id;
        },
        close,
      };
    });
    after(() => opened.close());

    testCredentialProfileRepository(() => opened);
  });
}
