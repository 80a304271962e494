/** Stores the id of the key that encrypts the credentials of the store. The id is a hash of the key. */
export interface EncryptionKeyRepository {
  /** Returns null when no process had a key yet. */
  encryptionKeyId(): Promise<string | null>;
  /**
   * Records a key if none is recorded.
   * @returns the recorded key id
   */
  recordEncryptionKey(keyId: string): Promise<string>;
  replaceEncryptionKey(keyId: string | null): Promise<void>;
}
