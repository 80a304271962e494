import { type BundleClients, createBundleClients } from '../../access/connections/bundle-clients.ts';
import { redirectUriOf } from '../../access/connections/connect-flow.ts';
import { openStoreEncrypter } from '../../access/credential-profiles/encryption-key.ts';
import { type Audit, commandSource } from '../../platform/audit/audit.ts';
import { listReachableUrls } from '../../platform/http/listen.ts';
import type { NewId } from '../../platform/identifier.ts';
import type { Database } from '../../storage/database/database.ts';
import { createBundleClientRepository } from '../../storage/repositories/credential-profile-repository.ts';
import type { Config } from '../settings/config.ts';

/** The OAuth clients of bundles, with or without a running service. */
export interface ClientAdministration {
  /** What the operator registers with the provider. */
  readonly redirectUri: string;
  find(bundleId: string): ReturnType<BundleClients['find']>;
  /** @throws Problem NOT_CONFIGURED without an encryption key */
  set(bundleId: string, clientId: string, secret: string | undefined): Promise<void>;
  /** @returns whether there was one */
  remove(bundleId: string): Promise<boolean>;
}

interface ClientParts {
  readonly config: Config;
  readonly database: Database;
  readonly audit: Audit;
  readonly newId: NewId;
}

export function administerClients({ config, database, audit, newId }: ClientParts): ClientAdministration {
  const repository = createBundleClientRepository(database);
  const isDatabaseInFolder = database.dialect === 'sqlite';
  const open = async () => {
    const encrypter = await openStoreEncrypter({ ...config, isDatabaseInFolder });
    return createBundleClients({ repository, encrypter, clock: database.clock, newId });
  };
  const consoleUrl = config.publicFilesUrl ?? listReachableUrls(config.host, config.filesPort)[0] ?? '';
  const record = (action: 'oauth_client.set' | 'oauth_client.deleted', id: string) =>
    audit.record(commandSource(), { action, id, projectId: null });
  return {
    redirectUri: redirectUriOf(consoleUrl),
    find: async (bundleId) => await (await open()).find(bundleId),
    async set(bundleId, clientId, secret) {
      await (await open()).set(bundleId, clientId, secret);
      await record('oauth_client.set', bundleId);
    },
    async remove(bundleId) {
      const isRemoved = await repository.remove(bundleId);
      if (isRemoved) await record('oauth_client.deleted', bundleId);
      return isRemoved;
    },
  };
}
