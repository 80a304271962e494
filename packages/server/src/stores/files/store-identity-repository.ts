/** Stores which data folder belongs to the database. */
export interface StoreIdentityRepository {
  readIdentity(): Promise<StoreIdentity>;
  /**
   * Sets the data folder of the store if the current one is `replaced`; null means none.
   * @returns whether the folder now belongs to the store; of several concurrent claims, one succeeds
   */
  claimFolder(folderId: string, replaced: string | null): Promise<boolean>;
}

export interface StoreIdentity {
  readonly storeId: string;
  /** Null until a process that serves files has started. */
  readonly folderId: string | null;
}
