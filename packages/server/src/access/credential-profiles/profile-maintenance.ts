import { commandName } from '@quartermaster/contract/command-name';
import { OperatorError } from '../../platform/server-process/operator-error.ts';
import type { CredentialProfileRepository, StoredProfile } from './credential-profile-repository.ts';
import { placeOf } from './credential-profiles.ts';
import type { Encrypter } from './encryption.ts';
import type { EncryptionKeyRepository } from './encryption-key-repository.ts';
import { encryptionNotConfigured } from './problems.ts';

/** The operations of the command line on the profiles of all projects. */
export interface ProfileMaintenance {
  /**
   * Encrypts all profiles of other keys with the first key, and records the first key as that of the store. An
   * interrupted rotation can be repeated, and it may run beside the service. It skips a profile that is changed
   * meanwhile; `keys` shows the remaining work.
   * @throws Problem when the settings have no key
   */
  rotate(): Promise<Rotation>;
  /**
   * Removes the profiles that no key decrypts, and replaces the recorded key with the first available one.
   * @returns the removed profiles, as `project/name`
   */
  forgetUnreadable(): Promise<readonly string[]>;
}

export interface Rotation {
  /** The id of the key that encrypts. */
  readonly keyId: string;
  readonly reencrypted: number;
  /** Profiles that no key of the settings decrypts, as `project/name`. */
  readonly unreadable: readonly string[];
  /** Maps the id of each key in use to the number of profiles that it encrypts. */
  readonly keys: ReadonlyMap<string, number>;
}

const batch = 100;

export interface ProfileMaintenanceDeps {
  readonly repository: CredentialProfileRepository;
  readonly store: Pick<EncryptionKeyRepository, 'replaceEncryptionKey'>;
  readonly openEncrypter: () => Promise<Encrypter | null>;
}

export function createProfileMaintenance({
  repository,
  store,
  openEncrypter,
}: ProfileMaintenanceDeps): ProfileMaintenance {
  async function* encryptedByOtherKeys(keyId: string): AsyncGenerator<StoredProfile> {
    for (let after = ''; ; ) {
      const profiles = await repository.listEncryptedByOtherKeys(keyId, after, batch);
      yield* profiles;
      const last = profiles.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  return {
    async rotate() {
      const encrypter = await openEncrypter();
      if (encrypter === null) throw encryptionNotConfigured();
      let reencrypted = 0;
      const unreadable: string[] = [];
      for await (const profile of encryptedByOtherKeys(encrypter.currentKeyId)) {
        const plain = encrypter.decrypt(profile.encrypted, placeOf(profile));
        if (plain === null) {
          unreadable.push(nameOf(profile));
          continue;
        }
        const { text: encrypted, keyId } = encrypter.encrypt(plain, placeOf(profile));
        if (await repository.replace(profile, { encrypted, keyId, updatedAt: profile.updatedAt })) reencrypted += 1;
      }
      if (unreadable.length === 0) await store.replaceEncryptionKey(encrypter.currentKeyId);
      return { keyId: encrypter.currentKeyId, reencrypted, unreadable, keys: await repository.countByKey() };
    },
    async forgetUnreadable() {
      const encrypter = await openEncrypter();
      const forgotten: string[] = [];
      // No key has an empty id, so this reads every profile.
      for await (const profile of encryptedByOtherKeys('')) {
        if (encrypter !== null && encrypter.decrypt(profile.encrypted, placeOf(profile)) !== null) continue;
        if (await repository.remove(profile.projectId, profile.name)) forgotten.push(nameOf(profile));
      }
      await store.replaceEncryptionKey(encrypter?.currentKeyId ?? null);
      return forgotten;
    },
  };
}

function nameOf({ projectId, name }: StoredProfile): string {
  return `${projectId}/${name}`;
}

/**
 * Checks that a key of the settings decrypts every profile.
 * @throws OperatorError that names the missing keys for the operator
 */
export async function checkEncryptionKeys(
  repository: CredentialProfileRepository,
  encrypter: Encrypter | null,
): Promise<void> {
  const missing = [...(await repository.countByKey())].filter(([keyId]) => encrypter?.knows(keyId) !== true);
  if (missing.length === 0) return;
  const keys = missing.map(([keyId, count]) => `${count} with the key ${keyId}`).join(', ');
  throw new OperatorError(
    `Stored credentials are encrypted with keys that are missing (${keys}). Put the keys back: into ` +
      'QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE, or the file "encryption-key" into the data folder ' +
      `of a store in SQLite. If they are lost, remove these credentials by "${commandName} profile forget --unreadable".`,
  );
}
