/** The encrypted credentials of a project. Unique: (project_id, name). */
export interface CredentialProfileTable {
  id: string;
  project_id: string;
  bundle_id: string;
  name: string;
  /** `v1.<key id>.<nonce>.<ciphertext and tag>`, bound to the project, the bundle and the name. */
  sealed: string;
  /** The key id within `sealed`. It finds the values that a key encrypts. */
  key_id: string;
  created_at: number;
  updated_at: number;
  /** Claim of the process that requests a new access token from a provider; null when none does. */
  refresh_claim: string | null;
  /** Milliseconds since 1970 by the clock of the database. */
  refresh_claimed_until: number | null;
}
