import type { Generated } from 'kysely';

/** Applications that sign in, what people allowed them, and their codes and tokens. */
export interface OauthTables {
  oauth_client: OauthClientTable;
  oauth_grant: OauthGrantTable;
  oauth_record: OauthRecordTable;
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
