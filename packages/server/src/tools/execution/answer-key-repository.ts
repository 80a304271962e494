/** Stores the secret of the answer hashes for stores without an encryption key. */
export interface AnswerKeyRepository {
  find(): Promise<string | undefined>;
  /** @returns the stored secret: the given one, or the one that another process stored first */
  add(secret: string): Promise<string>;
}
