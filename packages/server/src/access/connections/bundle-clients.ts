import type { OauthDeclaration } from '@quartermaster/plugin-kit';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/identifier.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { Secret } from '../../platform/secret.ts';
import type { BundleClientRepository } from '../credential-profiles/credential-profile-repository.ts';
import { placeOf } from '../credential-profiles/credential-profiles.ts';
import type { Encrypter } from '../credential-profiles/encryption.ts';
import { encryptionNotConfigured, profileKeyMissing, profileUnreadable } from '../credential-profiles/problems.ts';
import { clientMissing } from './problems.ts';
import type { BundleClient, ProviderOfBundle } from './provider.ts';

export interface BundleClientsDeps {
  readonly repository: BundleClientRepository;
  readonly encrypter: Encrypter | null;
  readonly clock: Clock;
  readonly newId: NewId;
}

export interface ShownClient {
  readonly clientId: string;
  readonly updatedAt: number;
}

/** The OAuth clients that the operator registered with the providers of bundles, encrypted. */
export interface BundleClients {
  find(bundleId: string): Promise<ShownClient | undefined>;
  set(bundleId: string, clientId: string, secret: string | undefined): Promise<ShownClient>;
  remove(bundleId: string): Promise<boolean>;
  /** @throws Problem NOT_CONFIGURED while the bundle has no client */
  getProvider(bundleId: string, oauth: OauthDeclaration): Promise<ProviderOfBundle>;
}

export function createBundleClients({ repository, encrypter, clock, newId }: BundleClientsDeps): BundleClients {
  const placeFor = (bundleId: string) => placeOf({ projectId: '', bundleId, name: bundleId });

  async function find(bundleId: string): Promise<(ShownClient & BundleClient) | undefined> {
    const row = await repository.find(bundleId);
    if (row === undefined) return undefined;
    if (encrypter === null) throw encryptionNotConfigured();
    const plain = encrypter.decrypt(row.encrypted, placeFor(bundleId));
    if (plain === null) {
      throw encrypter.knows(row.keyId) ? profileUnreadable(bundleId) : profileKeyMissing(bundleId, row.keyId);
    }
    const { client_id: clientId, client_secret: secret } = parseJson(plain) as Stored;
    return { clientId, secret: secret === undefined ? null : new Secret(secret), updatedAt: row.updatedAt };
  }

  return {
    find,
    set: async (bundleId, clientId, secret) => {
      if (encrypter === null) throw encryptionNotConfigured();
      const stored: Stored = { client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) };
      const { text: encrypted, keyId } = encrypter.encrypt(JSON.stringify(stored), placeFor(bundleId));
      const now = clock.now();
      const times = { createdAt: now, updatedAt: now };
      await repository.save({ id: newId('bundleClient'), bundleId, encrypted, keyId, ...times });
      return { clientId, updatedAt: now };
    },
    remove: repository.remove,
    getProvider: async (bundleId, oauth) => {
      const client = await find(bundleId);
      if (client === undefined) throw clientMissing(bundleId);
      return { oauth, client };
    },
  };
}

/** The encrypted text. */
interface Stored {
  readonly client_id: string;
  readonly client_secret?: string;
}
