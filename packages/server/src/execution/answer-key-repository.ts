/** The secret in the database, for stores without an encryption key. */
export interface AnswerKeyRepository {
  find(): Promise<string | undefined>;
  /** @returns the secret that is stored: this one, or that of another process */
  add(secret: string): Promise<string>;
}
