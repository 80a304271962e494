import type { EncryptionKeyRepository } from '../../access/credential-profiles/encryption-key-repository.ts';
import type { StoreIdentityRepository } from '../../stores/files/store-identity.ts';
import type { AnswerKeyRepository } from '../../tools/execution/answer-key-repository.ts';
import type { Database } from '../database/database.ts';

/** Reads and writes the single row of the store, which the migration has added. */
export function createStoreRepository({
  write,
}: Pick<Database, 'write'>): StoreIdentityRepository & EncryptionKeyRepository {
  const read = () => write.selectFrom('store').selectAll().executeTakeFirstOrThrow();
  return {
    async readIdentity() {
      const { id, folder_id: folderId, blobs_id: blobsId, blobs_place: blobsPlace } = await read();
      return { storeId: id, folderId, blobsId, blobsPlace };
    },
    async claimFolder(folderId, replaced) {
      const claim = write.updateTable('store').set({ folder_id: folderId });
      await claim
        .where((is) => (replaced === null ? is('folder_id', 'is', null) : is('folder_id', '=', replaced)))
        .execute();
      return (await read()).folder_id === folderId;
    },
    async claimBlobs({ id, place }, replaced) {
      const claim = write.updateTable('store').set({ blobs_id: id, blobs_place: place });
      await claim
        .where((is) => (replaced === null ? is('blobs_id', 'is', null) : is('blobs_id', '=', replaced)))
        .execute();
      return (await read()).blobs_id === id;
    },
    encryptionKeyId: async () => (await read()).encryption_key_id,
    async recordEncryptionKey(keyId) {
      await write
        .updateTable('store')
        .set({ encryption_key_id: keyId })
        .where('encryption_key_id', 'is', null)
        .execute();
      return (await read()).encryption_key_id ?? keyId;
    },
    async replaceEncryptionKey(keyId) {
      await write.updateTable('store').set({ encryption_key_id: keyId }).execute();
    },
  };
}

/** Stores the secret of the keyed hashes in either database. */
export function createAnswerKeyRepository({ write }: Database): AnswerKeyRepository {
  const find = async () => (await write.selectFrom('answer_key').select('secret').executeTakeFirst())?.secret;
  return {
    find,
    async add(secret) {
      await write
        .insertInto('answer_key')
        .values({ one: 1, secret })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return (await find()) ?? secret;
    },
  };
}
