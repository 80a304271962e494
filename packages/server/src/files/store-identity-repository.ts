/** Which data folder the database belongs to. */
export interface StoreIdentityRepository {
  readIdentity(): Promise<StoreIdentity>;
  /**
   * Sets the data folder of the store if the current one is `replaced`; null means none.
   * @returns whether the folder is the one of the store now: of several processes that claim one at once, one succeeds
   */
  claimFolder(folderId: string, replaced: string | null): Promise<boolean>;
}

export interface StoreIdentity {
  readonly storeId: string;
  /** null until a process that serves files has started. */
  readonly folderId: string | null;
}
