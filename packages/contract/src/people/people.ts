import { type Static, Type } from 'typebox';
import { Timestamp } from '../envelope.ts';
import { type Role, roles } from '../scopes.ts';

/** Sessions, accounts and members. Source: docs/contract.md "Authentication", docs/guides/people.md. */

const AccountName = Type.String({ minLength: 1, maxLength: 64, description: 'Name of the account.' });
/** The bounds for the parser. The allowed length is checked in characters later, with a clearer message. */
const Password = Type.String({ minLength: 1, maxLength: 2048, 'x-secret': true });

export const SetUp = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'Token of the setup link that the service printed.',
    'x-secret': true,
  }),
  name: AccountName,
  password: Password,
});
export type SetUp = Static<typeof SetUp>;

export const SetUpState = Type.Object({ expires_timestamp: Timestamp });
export type SetUpState = Static<typeof SetUpState>;

export const SignIn = Type.Object({ name: AccountName, password: Password });
export type SignIn = Static<typeof SignIn>;

export const PasswordChange = Type.Object({ current_password: Password, new_password: Password });
export type PasswordChange = Static<typeof PasswordChange>;

export const Session = Type.Object({
  object: Type.Literal('Session'),
  session_id: Type.String({
    description: 'Identifies the session in lists and in the log. It cannot be used to sign in.',
  }),
  account_id: Type.String(),
  name: Type.String(),
  created_timestamp: Timestamp,
  last_used_timestamp: Type.Integer({ description: 'Time of the last request, updated at most once a minute.' }),
  idle_expires_timestamp: Type.Integer({ description: 'Time at which the session ends if it is not used before.' }),
  expires_timestamp: Type.Integer({ description: 'Time at which the session ends even if it is used.' }),
  client_address: Type.String({ description: 'Address of the client that began the session.' }),
  user_agent: Type.String({ description: '`User-Agent` of that client, at most 256 characters.' }),
  current: Type.Boolean({ description: 'Whether the request was made with this session.' }),
});
export type Session = Static<typeof Session>;

const AccountId = Type.String({ description: 'Id of the account.' });
const RoleName = Type.Unsafe<Role>(
  Type.Enum([...roles], {
    description:
      '`viewer` reads, and runs plugins whose `effects` are `read`. `member` also changes content and runs every plugin. ' +
      '`administrator` also manages keys, credential profiles, applications and members of the project.',
  }),
);
const OptionalText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const Email = OptionalText('E-mail address that the identity provider named last.');
const IsAdministrator = Type.Boolean({
  description: 'Whether the account manages the whole service: every project, and all accounts.',
});

/** The session of the request, with what its person may do. */
export const OwnSession = Type.Interface([Session], {
  email: Email,
  is_administrator: IsAdministrator,
  projects: Type.Array(Type.Object({ project_id: Type.String(), role: RoleName }), {
    description: 'Projects of which the account is a member. An administrator of the service manages all others too.',
  }),
});
export type OwnSession = Static<typeof OwnSession>;

export const Account = Type.Object({
  object: Type.Literal('Account'),
  account_id: AccountId,
  name: Type.String(),
  email: Email,
  is_administrator: IsAdministrator,
  disabled: Type.Boolean({ description: 'Whether the account can neither sign in nor do anything.' }),
  issuer: OptionalText('Identity provider of the account; null for the account with a password.'),
  created_timestamp: Timestamp,
  last_sign_in_timestamp: Type.Union([Timestamp, Type.Null()]),
});
export type Account = Static<typeof Account>;

export const AccountUpdate = Type.Object({
  disabled: Type.Optional(
    Type.Boolean({
      description: 'True ends all sessions and applications of the account. False lets it sign in again.',
    }),
  ),
  is_administrator: Type.Optional(IsAdministrator),
});
export type AccountUpdate = Static<typeof AccountUpdate>;

export const Member = Type.Object({
  object: Type.Literal('Member'),
  account_id: AccountId,
  name: Type.String(),
  email: Email,
  role: RoleName,
  source: Type.Enum(['manual', 'claim'], {
    description: '`claim`: the identity provider sets the role at each sign-in.',
  }),
});
export type Member = Static<typeof Member>;

export const MemberUpdate = Type.Object({ role: RoleName });
export type MemberUpdate = Static<typeof MemberUpdate>;

/** The only response with the console token. */
export const NewSession = Type.Interface([Session], {
  console_token: Type.String({
    description:
      'Send it as `X-Quartermaster-Console-Token` with every request of the session: the cookie alone is refused. It is not shown again.',
  }),
});
export type NewSession = Static<typeof NewSession>;

/** How people can sign in besides the password. */
export const SignInWays = Type.Object({ provider: Type.Union([Type.String(), Type.Null()]) });
export type SignInWays = Static<typeof SignInWays>;

/** The query with which an identity provider sent the browser back. */
export const ProviderAnswer = Type.Object({ answer: Type.String({ maxLength: 8192 }) });
export type ProviderAnswer = Static<typeof ProviderAnswer>;

export const ProviderSession = Type.Interface([NewSession], { return_to: Type.String() });
export type ProviderSession = Static<typeof ProviderSession>;

export const SignOutQuery = Type.Object({
  everywhere: Type.Optional(Type.Boolean({ default: false, description: 'End all sessions of the account.' })),
});
