import type { CredentialProfileRepository, StoredProfile } from './credential-profile-repository.ts';
import { placeOf } from './credential-profiles.ts';
import type { Encrypter } from './encryption.ts';
import type { EncryptionKeyRepository } from './encryption-key-repository.ts';
import { encryptionNotConfigured } from './problems.ts';

/** Operations of the command line on the profiles of all projects. */
export interface ProfileMaintenance {
  /**
   * Encrypts everything with the first key that another one has encrypted, and records the first key as that of the store. May be stopped and begun again, and run beside the
   * service: a profile that is changed meanwhile is left to whoever changed it; `keys` tells what is left to do.
   * @throws Problem when the settings have no key
   */
  rotate(): Promise<Rotation>;
  /**
   * Removes the profiles that no key decrypts, and replaces the recorded key by the first available one.
   * @returns them, as `project/name`
   */
  forgetUnreadable(): Promise<readonly string[]>;
}

export interface Rotation {
  /** Id of the key that encrypts. */
  readonly keyId: string;
  readonly resealed: number;
  /** Profiles that no key of the settings opens, as `project/name`. */
  readonly unreadable: readonly string[];
  /** Keys that encrypt something, by id, with how much. */
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
  async function* sealedByOthers(keyId: string): AsyncGenerator<StoredProfile> {
    for (let after = ''; ; ) {
      const profiles = await repository.sealedByOthers(keyId, after, batch);
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
      let resealed = 0;
      const unreadable: string[] = [];
      for await (const profile of sealedByOthers(encrypter.currentKeyId)) {
        const plain = encrypter.open(profile.sealed, placeOf(profile));
        if (plain === null) {
          unreadable.push(nameOf(profile));
          continue;
        }
        const { text: sealed, keyId } = encrypter.seal(plain, placeOf(profile));
        if (await repository.replace(profile, { sealed, keyId, updatedAt: profile.updatedAt })) resealed += 1;
      }
      if (unreadable.length === 0) await store.replaceEncryptionKey(encrypter.currentKeyId);
      return { keyId: encrypter.currentKeyId, resealed, unreadable, keys: await repository.countByKey() };
    },
    async forgetUnreadable() {
      const encrypter = await openEncrypter();
      const forgotten: string[] = [];
      // No key has an empty id: every profile is looked at.
      for await (const profile of sealedByOthers('')) {
        if (encrypter !== null && encrypter.open(profile.sealed, placeOf(profile)) !== null) continue;
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
 * Makes sure that every profile there is can be opened by a key of the settings.
 * @throws Error that names the keys that are missing, for whoever starts the service
 */
export async function checkEncryptionKeys(
  repository: CredentialProfileRepository,
  encrypter: Encrypter | null,
): Promise<void> {
  const missing = [...(await repository.countByKey())].filter(([keyId]) => encrypter?.knows(keyId) !== true);
  if (missing.length === 0) return;
  const sealed = missing.map(([keyId, count]) => `${count} with the key ${keyId}`).join(', ');
  throw new Error(
    `Stored credentials are encrypted with keys that are missing (${sealed}). Put the keys back: into ` +
      'QUARTERMASTER_SEALING_KEY or QUARTERMASTER_SEALING_KEY_FILE, or the file "encryption-key" into the data folder ' +
      'of a store in SQLite. If they are lost, remove these credentials by "npm run quartermaster -- profile forget --unreadable".',
  );
}
