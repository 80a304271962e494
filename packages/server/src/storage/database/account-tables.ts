import type { Role } from '@quartermaster/contract';

/** The people who sign in, and their roles in projects. */
export interface AccountTables {
  account: AccountTable;
  member: MemberTable;
  session: SessionTable;
}

export interface AccountTable {
  id: string;
  name: string;
  email: string | null;
  /** A hash in PHC string format; null without a password. */
  password_hash: string | null;
  browser_secret: string | null;
  /** 1 for an account that manages the whole service. */
  is_administrator: number;
  /** `claim`: the identity provider decides at each sign-in. Null: a person decided. */
  administrator_source: 'claim' | null;
  /** The identity provider, and the id of the person there; null without one. Unique together. */
  issuer: string | null;
  subject: string | null;
  disabled_at: number | null;
  created_at: number;
  updated_at: number;
  last_sign_in_at: number | null;
}

/** The role of an account in a project. Primary key (project_id, account_id). */
export interface MemberTable {
  project_id: string;
  account_id: string;
  role: Role;
  /** `claim`: the identity provider decides at each sign-in. */
  source: 'manual' | 'claim';
  created_at: number;
}

export interface SessionTable {
  /** SHA-256 of the token, hexadecimal. The token itself is not stored. */
  hash: string;
  /** SHA-256 of the console's token. */
  console_hash: string;
  account_id: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  /** Identifies the session in lists. */
  id: string;
  client_address: string;
  user_agent: string;
}
