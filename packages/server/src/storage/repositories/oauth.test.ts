import { after, before, describe } from 'node:test';
import { storeAccount } from '../../access/accounts/testing/stored-account.ts';
import { type OpenedOauth, testOauthAdapter } from '../../access/oauth/testing/adapter.suite.ts';
import { createNewId } from '../../platform/identifier.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { createOauthRepository } from './oauth-repository.ts';
import { createProjectRepository } from './project-repository.ts';

const newId = createNewId();

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`the storage of the authorization server in ${name}`, () => {
    let opened: OpenedOauth & { close(): Promise<void> };
    before(async () => {
      const { database, close } = await open();
      const projects = createProjectRepository(database);
      await storeAccount(database, { id: 'admn1' });
      opened = {
        repository: createOauthRepository(database),
        other: createOauthRepository(database),
        async newProject() {
          const id = newId('project');
          await projects.addProject({ id, name: id, createdAt: 1 }, { most: 1_000 });
          return id;
        },
        storedText: async () => JSON.stringify(await database.read.selectFrom('oauth_record').selectAll().execute()),
        close,
      };
    });
    after(() => opened.close());

    testOauthAdapter(() => opened);
  });
}
