/** Which key encrypts the credentials of the store, by its id, which is a hash of the key. */
export interface EncryptionKeyRepository {
  /** null: no process has had a key yet. */
  encryptionKeyId(): Promise<string | null>;
  /** Records a key if none is recorded. @returns the recorded one */
  recordEncryptionKey(keyId: string): Promise<string>;
  replaceEncryptionKey(keyId: string | null): Promise<void>;
}
