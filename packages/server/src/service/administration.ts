import { createSetUpLink, type SetUpLink } from '../access/administrator/set-up-link.ts';
import { openStoreEncrypter } from '../access/credential-profiles/encryption-key.ts';
import {
  createProfileMaintenance,
  type ProfileMaintenance,
} from '../access/credential-profiles/profile-maintenance.ts';
import { createProjects, type Projects } from '../access/projects/projects.ts';
import { openDatabase } from '../adapters/database/open-database.ts';
import { createAdministratorRepository } from '../adapters/repositories/administrator-repository.ts';
import { createCredentialProfileRepository } from '../adapters/repositories/credential-profile-repository.ts';
import { createProjectRepository } from '../adapters/repositories/project-repository.ts';
import { createStoreRepository } from '../adapters/repositories/store-repository.ts';
import { createNewId } from '../kernel/identifier.ts';
import { createLogger } from '../kernel/log/logger.ts';
import { parseConfig, processEnvironment } from '../settings/config.ts';
import { administerStore, type StoreAdministration } from './store-administration.ts';

/** What an administrator may do with the store itself, whether a service runs on it or not. */
export interface Administration extends StoreAdministration {
  readonly projects: Projects;
  readonly profiles: ProfileMaintenance;
  /**
   * A new link that makes the administrator. `reset` removes the one there is, with every session.
   * @returns undefined when there is an administrator who was not to be removed.
   */
  createSetUpLink(options: { reset: boolean }): Promise<SetUpLink | undefined>;
}

/** Connections to PostgreSQL. A command runs beside the service and needs few, because its steps are sequential. */
const connectionsOfCommand = 2;

/** Opens the store that the settings of this process name, does the work, and closes it. */
export async function withAdministration(work: (administration: Administration) => Promise<void>): Promise<void> {
  const config = parseConfig(processEnvironment());
  const logger = createLogger('warn');
  const database = await openDatabase({
    url: config.databaseUrl?.reveal() ?? null,
    dataFolder: config.dataFolder,
    logger,
    connections: connectionsOfCommand,
    durability: config.databaseDurability,
  });
  try {
    const repository = createProjectRepository(database);
    await work({
      projects: createProjects({ repository, clock: database.clock, newId: createNewId(database.clock) }),
      profiles: createProfileMaintenance({
        repository: createCredentialProfileRepository(database),
        store: createStoreRepository(database),
        openEncrypter: () => openStoreEncrypter({ ...config, isDatabaseInFolder: database.dialect === 'sqlite' }),
      }),
      createSetUpLink: async ({ reset }) => {
        const administrators = createAdministratorRepository(database);
        if (reset) await administrators.removeAdministrator();
        const { dataFolder } = config;
        const consoleUrl = config.publicFilesUrl ?? `http://${config.host}:${config.filesPort}`;
        return createSetUpLink({ repository: administrators, clock: database.clock, dataFolder, consoleUrl });
      },
      ...administerStore({ database, dataFolder: config.dataFolder, logger }),
    });
  } finally {
    await database.close();
  }
}

export { createEncryptionKey } from '../access/credential-profiles/encryption.ts';
