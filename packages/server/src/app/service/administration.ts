import { commandName } from '@quartermaster/contract/command-name';
import { createSetUpLink, type SetUpLink } from '../../access/accounts/set-up-link.ts';
import { openStoreEncrypter } from '../../access/credential-profiles/encryption-key.ts';
import {
  createProfileMaintenance,
  type ProfileMaintenance,
} from '../../access/credential-profiles/profile-maintenance.ts';
import { deletionFact, type ProjectDeletion } from '../../access/projects/project-deletions.ts';
import type { Project } from '../../access/projects/project-repository.ts';
import { createProjects, type Projects } from '../../access/projects/projects.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { type Audit, commandSource, createAudit } from '../../platform/audit/audit.ts';
import type { AuditRepository } from '../../platform/audit/audit-repository.ts';
import { systemClock } from '../../platform/clock.ts';
import { listReachableUrls } from '../../platform/http/listen.ts';
import { createNewId } from '../../platform/identifier.ts';
import { createLogger } from '../../platform/log/logger.ts';
import type { NodeRepository } from '../../platform/nodes/node-repository.ts';
import { quoteText } from '../../platform/quote-text.ts';
import { checkCollection, checkDatabase, correctCounts, repairIndex } from '../../storage/check/check-database.ts';
import { openDatabase } from '../../storage/open-database.ts';
import { createAccountRepository } from '../../storage/repositories/account-repository.ts';
import { createAuditRepository } from '../../storage/repositories/audit-repository.ts';
import { createBlobRepository } from '../../storage/repositories/blob-repository.ts';
import { createCredentialProfileRepository } from '../../storage/repositories/credential-profile-repository.ts';
import { createFileRepository } from '../../storage/repositories/file-repository.ts';
import { createNodeRepository } from '../../storage/repositories/node-repository.ts';
import { createProjectDeletionRepository } from '../../storage/repositories/project-deletions.ts';
import { createProjectRepository } from '../../storage/repositories/project-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import type { BlobRepository } from '../../stores/files/blob-repository.ts';
import type { BlobStore } from '../../stores/files/blob-store.ts';
import { type CheckStoreOptions, checkStore, type StoreReport } from '../../stores/files/maintenance/fsck.ts';
import {
  listQuarantine,
  type QuarantineDeps,
  type QuarantinedBlob,
  type RestoredFile,
  restoreAsFile,
  restoreBlob,
} from '../../stores/files/maintenance/quarantine.ts';
import { createDamageReport } from '../../stores/files/maintenance/report-damage.ts';
import { type SweepResult, sweepOrphans } from '../../stores/files/maintenance/sweep-orphans.ts';
import { assertDataFolder } from '../../stores/files/store-identity.ts';
import type { Installation } from '../../tools/installation/installation.ts';
import { administerPublishers, type PublisherAdministration } from '../authoring/package-manager.ts';
import { parseConfig, processEnvironment } from '../settings/config.ts';
import { administerClients, type ClientAdministration } from './administer-clients.ts';
import { type BlobStoreContext, openBlobStore } from './open-blobs.ts';
import { openPublishers, withInstallation } from './wire-installation.ts';

/** The administration of a store, with or without a running service. */
export interface Administration extends StoreAdministration {
  readonly projects: Projects;
  readonly profiles: ProfileMaintenance;
  readonly events: Pick<AuditRepository, 'list'>;
  readonly clients: ClientAdministration;
  readonly publishers: PublisherAdministration;
  /** Installs bundles from packages. A running service loads the changes. */
  withInstallation<T>(work: (installation: Installation) => Promise<T>): Promise<T>;
  /**
   * Finds the id of the project with this id or name.
   * @throws Error that names the command which lists the projects
   */
  findProjectId(idOrName: string): Promise<string>;
  /**
   * Finds a project by its id or name, also while it is being deleted.
   * @throws Error as `findProjectId`
   */
  findProjectToDelete(idOrName: string): Promise<Pick<Project, 'id' | 'name'>>;
  /** Deletes a project with everything that belongs to it, also beside a running service, or continues its deletion. */
  deleteProject(projectId: string): Promise<ProjectDeletion>;
  /** @throws Error that names the command which lists the keys, when there is no key with this id */
  assertKey(keyId: string): Promise<void>;
  /** @throws Error when there is no key with this id, or it is revoked or has expired */
  assertUsableKey(keyId: string): Promise<void>;
  /**
   * Creates a link that sets up the administrator. `reset` first removes the existing administrator with all sessions.
   * @returns undefined when an administrator exists and `reset` is false
   */
  createSetUpLink(options: { reset: boolean }): Promise<SetUpLink | undefined>;
}

/** Connections to PostgreSQL. A command needs few, because its steps are sequential, and a service may run at the same time. */
const connectionsOfCommand = 2;

/**
 * Opens the store of the settings, performs the work and closes the store.
 * @throws Error when the settings name no store; nothing is created then
 */
export async function withAdministration(work: (administration: Administration) => Promise<void>): Promise<void> {
  const config = parseConfig(processEnvironment());
  const logger = createLogger('warn');
  const admission = createAdmission();
  const database = await openDatabase({
    admission,
    url: config.databaseUrl?.reveal() ?? null,
    dataFolder: config.dataFolder,
    mustExist: true,
    logger,
    connections: connectionsOfCommand,
    durability: config.databaseDurability,
  });
  const store = createStoreRepository(database);
  const assertFolder = async () => {
    if (database.dialect === 'postgres' && config.blobs === null) await assertDataFolder(config.dataFolder, store);
  };
  try {
    const repository = createProjectRepository(database);
    const { clock } = database;
    const newId = createNewId(clock);
    const events = createAuditRepository(database);
    const audit = createAudit({ repository: events, clock, newId, logger });
    await work({
      events,
      publishers: administerPublishers(openPublishers({ config, database }), audit),
      withInstallation: async (use) => {
        await assertFolder();
        return await withInstallation({ config, database, audit, clock, newId, admission, logger }, use);
      },
      clients: administerClients({ config, database, audit, newId }),
      projects: createProjects({ repository, audit, clock, newId }),
      profiles: createProfileMaintenance({
        repository: createCredentialProfileRepository(database),
        store,
        openEncrypter: () => openStoreEncrypter({ ...config, isDatabaseInFolder: database.dialect === 'sqlite' }),
      }),
      findProjectId: async (idOrName) => {
        const all = await repository.listProjects();
        const found = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
        if (found === undefined) throw unknownProject(idOrName);
        return found.id;
      },
      ...administerDeletions({ database, config, logger, assertFolder, audit }),
      assertKey: async (keyId) => {
        if ((await repository.findKey(keyId)) === undefined) throw unknownKey(keyId);
      },
      assertUsableKey: async (keyId) => {
        const key = await repository.findKey(keyId);
        if (key === undefined) throw unknownKey(keyId);
        const hasExpired = key.expiresAt !== null && key.expiresAt <= database.clock.now();
        if (key.revokedAt !== null || hasExpired) throw keyNotUsable(keyId, hasExpired ? 'has expired' : 'is revoked');
      },
      createSetUpLink: async ({ reset }) => {
        await assertFolder();
        const accounts = createAccountRepository(database);
        if (reset) {
          const id = await accounts.removePasswordAccount();
          if (id !== undefined) await audit.record(commandSource(), { action: 'account.deleted', id });
        }
        const { dataFolder } = config;
        const consoleUrl = config.publicFilesUrl ?? listReachableUrls(config.host, config.filesPort)[0];
        return createSetUpLink({ repository: accounts, clock: database.clock, dataFolder, consoleUrl });
      },
      ...administerStore({ database, config, logger, assertFolder }),
    });
  } finally {
    await database.close();
  }
}

type StorePlace = Parameters<typeof administerStore>[0];

function administerDeletions({ database, config, logger, assertFolder, audit }: StorePlace & { audit: Audit }) {
  const deletions = createProjectDeletionRepository(database);
  return {
    async findProjectToDelete(idOrName: string) {
      const deleting = (await deletions.list()).filter(({ endedAt }) => endedAt === null);
      const all = [
        ...(await createProjectRepository(database).listProjects()),
        ...deleting.map(({ projectId: id, name }) => ({ id, name })),
      ];
      const found = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
      if (found === undefined) throw unknownProject(idOrName);
      return found;
    },
    async deleteProject(projectId: string) {
      const { now } = database.clock;
      const by = commandSource();
      await assertFolder();
      const { blobs } = await openBlobStore({ config, database, logger });
      try {
        if ((await deletions.begin(projectId, now())) === undefined) throw unknownProject(projectId);
        await audit.record(by, { action: 'project.deletion_begun', id: projectId, projectId });
        const { signal } = new AbortController();
        const deletion = await deletions.erase(projectId, { eraseBlob: blobs.remove, now, signal });
        await audit.record(by, deletionFact(deletion), deletion.begunAt);
        return deletion;
      } finally {
        await blobs.close();
      }
    },
  };
}

function unknownProject(idOrName: string): Error {
  return new Error(
    `No project with the id or name ${quoteText(idOrName)} was found. Run "${commandName} project list" to list the projects.`,
  );
}

function unknownKey(keyId: string): Error {
  return new Error(`No key with the id ${quoteText(keyId)} was found. Run "${commandName} key list" to list the keys.`);
}

function keyNotUsable(keyId: string, reason: string): Error {
  return new Error(
    `The key ${keyId} ${reason}, so it cannot be replaced. Run "${commandName} key create" to create another one.`,
  );
}

export { createEncryptionKey } from '../../access/credential-profiles/encryption.ts';
export { createApiKey } from '../../access/projects/api-key.ts';
export { commandSource } from '../../platform/audit/audit.ts';
export { checkHosts } from '../../tools/installation/check-request.ts';
export { compareFacts } from '../../tools/installation/package-facts.ts';
export { planToWire } from '../../tools/installation/routes.ts';

/** The administration of stored content. */
interface StoreAdministration {
  /** See `checkStore` of `files/maintenance/fsck.ts`. */
  checkStore(options: CheckStoreOptions): Promise<StoreReport>;
  /** The processes of the store. */
  readonly nodes: Pick<NodeRepository, 'list'>;
  /** Controls the background verification. */
  readonly verification: Pick<BlobRepository, 'findVerification' | 'pauseVerification'>;
  readonly quarantine: {
    list(): AsyncIterable<QuarantinedBlob>;
    /** Deletes all expired blobs, without the limit of the background sweep. */
    sweep(): Promise<SweepResult>;
    restore(blobId: string): Promise<void>;
    restoreAsFile(blobId: string, file: RestoredFile): Promise<string>;
    /** @returns false when the blob does not exist */
    purge(blobId: string): Promise<boolean>;
  };
}

/** @param place the location of the store */
function administerStore(
  place: BlobStoreContext & {
    /** Throws when the folder does not belong to the database. */
    readonly assertFolder: () => Promise<void>;
  },
): StoreAdministration {
  const { database, logger, assertFolder } = place;
  const clock = systemClock;
  const [files, damages] = [createFileRepository(database), createBlobRepository(database)];
  const depsOf = (blobs: BlobStore): QuarantineDeps => {
    const reportDamage = createDamageReport({ damages, blobs, clock, logger });
    return { files, damages, reportDamage, blobs, clock, newId: createNewId() };
  };
  const openBlobs = async (): Promise<BlobStore> => {
    await assertFolder();
    return (await openBlobStore(place)).blobs;
  };
  async function withBlobs<T>(work: (deps: QuarantineDeps) => Promise<T>): Promise<T> {
    const blobs = await openBlobs();
    try {
      return await work(depsOf(blobs));
    } finally {
      await blobs.close();
    }
  }
  return {
    checkStore: (options) =>
      withBlobs((deps) => {
        const repair = async (collectionId: string) => {
          await correctCounts(database, collectionId);
          if ((await checkCollection(database, collectionId)).length === 0) return true;
          return repairIndex(database, collectionId);
        };
        return checkStore({ ...deps, checkDatabase: () => checkDatabase(database), repairIndex: repair }, options);
      }),
    nodes: createNodeRepository(database),
    verification: damages,
    quarantine: {
      async *list() {
        const blobs = await openBlobs();
        try {
          yield* listQuarantine(depsOf(blobs));
        } finally {
          await blobs.close();
        }
      },
      sweep: () => withBlobs((deps) => sweepOrphans({ ...deps, logger }, true)),
      restore: (blobId) => withBlobs((deps) => restoreBlob(deps, blobId)),
      restoreAsFile: (blobId, file) => withBlobs((deps) => restoreAsFile(deps, blobId, file)),
      purge: (blobId) => withBlobs(({ blobs }) => blobs.quarantine.purge(blobId)),
    },
  };
}
