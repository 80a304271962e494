import { type Static, Type } from 'typebox';
import { CountedList, Timestamp } from './envelope.ts';
import { maxCredentials } from './plugins.ts';

const Name = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  maxLength: 64,
  description: 'Name, unique in the project. It consists of letters, digits, ".", "_" and "-".',
});
const ProfileCredentials = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: maxCredentials,
  description:
    'Credentials that match the `credentials_schema` of the bundle. They are stored encrypted and never returned.',
  'x-secret': true,
});

/** A named set of encrypted credentials of a project. It does not contain the credentials. */
export const CredentialProfile = Type.Object({
  object: Type.Literal('credential_profile'),
  credential_profile_id: Type.String(),
  name: Name,
  bundle_id: Type.String(),
  created_timestamp: Timestamp,
  updated_timestamp: Timestamp,
});
export type CredentialProfile = Static<typeof CredentialProfile>;

export const CredentialProfileList = Type.Object({
  ...CountedList(CredentialProfile).properties,
  encryption_configured: Type.Boolean({
    description: 'Whether the service has an encryption key. Without one, it stores no credentials.',
  }),
});

export const CredentialProfileCreate = Type.Object({
  name: Name,
  bundle_id: Type.String({ minLength: 1, maxLength: 64 }),
  credentials: ProfileCredentials,
});
export type CredentialProfileCreate = Static<typeof CredentialProfileCreate>;

export const CredentialProfileUpdate = Type.Object({ credentials: ProfileCredentials });
export type CredentialProfileUpdate = Static<typeof CredentialProfileUpdate>;
