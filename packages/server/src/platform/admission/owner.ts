/** The project and key for which a place is counted. Callers without a key count as one project with one key. */
export interface Owner {
  readonly projectId: string;
  /** null when the caller has no API key. */
  readonly keyId: string | null;
}

export const keyless: Owner = { projectId: '-', keyId: null };
