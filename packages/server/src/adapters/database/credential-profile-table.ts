/** Credentials of a project, encrypted. Unique (project_id, name). */
export interface CredentialProfileTable {
  id: string;
  project_id: string;
  bundle_id: string;
  name: string;
  /** `v1.<key id>.<nonce>.<ciphertext and tag>`, bound to project, bundle and name. */
  sealed: string;
  /** As in `sealed`, to find what a key encrypts. */
  key_id: string;
  created_at: number;
  updated_at: number;
  /** Claim of the process that requests a new access token from a provider; null when none does. */
  refresh_claim: string | null;
  /** By the clock of the database, milliseconds since 1970. */
  refresh_claimed_until: number | null;
}
