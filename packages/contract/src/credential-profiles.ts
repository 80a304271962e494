import { type Static, Type } from 'typebox';
import { Timestamp } from './envelope.ts';

const Name = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  description: 'Unique in the project: letters, digits, ".", "_" and "-".',
});
const Credentials = Type.Record(Type.String(), Type.Unknown(), {
  description: "By the bundle's credentials_schema. Kept encrypted; no answer ever holds them.",
  'x-secret': true,
});

/** Credentials of a project, kept encrypted under a name. Never the credentials themselves. */
export const CredentialProfile = Type.Object({
  object: Type.Literal('credential_profile'),
  credential_profile_id: Type.String(),
  name: Name,
  bundle_id: Type.String(),
  created_timestamp: Timestamp,
  updated_timestamp: Timestamp,
});
export type CredentialProfile = Static<typeof CredentialProfile>;

export const CredentialProfileCreate = Type.Object({
  name: Name,
  bundle_id: Type.String({ minLength: 1, maxLength: 64 }),
  credentials: Credentials,
});
export type CredentialProfileCreate = Static<typeof CredentialProfileCreate>;

export const CredentialProfileUpdate = Type.Object({ credentials: Credentials });
export type CredentialProfileUpdate = Static<typeof CredentialProfileUpdate>;
