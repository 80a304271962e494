import { type EncryptionSettings, openEncryption } from '../../access/credential-profiles/encryption-key.ts';
import { createAnswerKeyRepository } from '../../storage/repositories/answer-key-repository.ts';
import { createCredentialProfileRepository } from '../../storage/repositories/credential-profile-repository.ts';
import { createStoreRepository } from '../../storage/repositories/store-repository.ts';
import { openAnswerHashes } from '../../tools/execution/answer-hashes.ts';
import type { ServiceContext } from './context.ts';

export type Secrets = Awaited<ReturnType<typeof openSecrets>>;

/** Opens the encryption of stored credentials, and the keyed hashes of stored answers and signed URLs. */
export async function openSecrets(context: ServiceContext) {
  const { database, logger } = context;
  const encrypter = await openEncryption(encryptionSettingsOf(context), {
    profiles: createCredentialProfileRepository(database),
    store: createStoreRepository(database),
    logger,
  });
  const hashes = await openAnswerHashes(encrypter?.hashes ?? null, createAnswerKeyRepository(database));
  return { encrypter, hashes };
}

export function encryptionSettingsOf({ config, database }: ServiceContext): EncryptionSettings {
  return { ...config, isDatabaseInFolder: database.dialect === 'sqlite' };
}
