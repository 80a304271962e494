import type { ConnectionStatus } from '@quartermaster/contract';
import type { Generated } from 'kysely';

/** Applications that sign in, what people allowed them, and their codes and tokens; stored credentials of third parties. */
export interface OauthTables {
  oauth_client: OauthClientTable;
  oauth_grant: OauthGrantTable;
  oauth_record: OauthRecordTable;
  credential_profile: CredentialProfileTable;
  bundle_client: BundleClientTable;
}

/** An application that signs in. */
export interface OauthClientTable {
  /** The URL of its metadata document, or the id of its registration. */
  id: string;
  kind: 'document' | 'registered';
  /** JSON object. */
  metadata: string;
  created_at: number;
  fresh_until: number;
}

/** What a person has allowed an application to do. */
export interface OauthGrantTable {
  id: string;
  client_id: string;
  account_id: string;
  project_id: string;
  resource: string;
  /** JSON arrays; null: every collection, every plugin. */
  scopes: string;
  collections: string | null;
  tools: string | null;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** Codes, tokens, and requests that wait for a decision. */
export interface OauthRecordTable {
  model: string;
  /** SHA-256 of the secret, hexadecimal. */
  hash: string;
  grant_id: string | null;
  /** The project of the grant; empty without one. */
  project_id: string;
  /** JSON object. */
  payload: string;
  expires_at: number;
  consumed_at: number | null;
  uses: Generated<number>;
}

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
  /** The end user of a connection; null for a profile. */
  end_user: string | null;
  status: ConnectionStatus | 'deleting' | null;
  /** JSON object with the other facts of a connection. */
  connection: string | null;
}

/** The OAuth client that the operator registered for a bundle. Unique: bundle_id. */
export interface BundleClientTable {
  id: string;
  bundle_id: string;
  /** As in `credential_profile`, bound to the bundle. */
  sealed: string;
  key_id: string;
  created_at: number;
  updated_at: number;
}
