/** The project and key for which a place is counted. Callers without a key count as one project with one key. */
export interface Owner {
  /** null when the caller has no API key. */
  readonly projectId: string | null;
  /** null when the caller has no API key. */
  readonly keyId: string | null;
}

/** The project and key of a request that needs a key. */
export interface ProjectOwner extends Owner {
  readonly projectId: string;
}

export const keyless: Owner = { projectId: null, keyId: null };
