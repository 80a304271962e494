import { type Static, Type } from 'typebox';
import { CountedList, ListQuery, Timestamp } from '../envelope.ts';
import { connectionStatuses } from '../vocabulary.ts';

const EndUser = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Opaque id of the end user in the application that calls.',
});
const BundleId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the bundle.' });
const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** An account of an end user at a third party. It does not contain the credentials. */
export const Connection = Type.Object({
  object: Type.Literal('Connection'),
  connection_id: Type.String(),
  bundle_id: BundleId,
  end_user: EndUser,
  status: Type.Enum([...connectionStatuses], {
    description:
      '`pending`: the end user has not connected yet. `active`: runs may use it. `reconnect_required`: the end user must connect again. `misconfigured`: the operator must correct the OAuth client of the bundle.',
  }),
  reason: Nullable(
    'Why it is not active: `refused` by the provider, `outcome_unknown` because a process ended during a request, or the code of an error of the OAuth client; otherwise null.',
  ),
  account: Type.Union([Type.Object({ id: Type.String(), label: Type.String() }), Type.Null()], {
    description: 'Account at the third party, where the bundle declares how to find it.',
  }),
  scopes: Type.Array(Type.String(), { description: 'Scopes that the end user granted; before that, those asked for.' }),
  created_timestamp: Timestamp,
  updated_timestamp: Timestamp,
});
export type Connection = Static<typeof Connection>;

export const ConnectionList = CountedList(Connection);

export const ConnectionListQuery = Type.Object({
  ...ListQuery.properties,
  bundle_id: Type.Optional(BundleId),
  end_user: Type.Optional(EndUser),
});
export type ConnectionListQuery = Static<typeof ConnectionListQuery>;

const LinkOptions = {
  return_url: Type.Optional(
    Type.String({
      maxLength: 2048,
      pattern: '^https?://',
      description:
        'URL of the application to which the browser returns, with `connection_id` and a one-time `confirmation` in its query. The connection becomes active with `confirmConnection`. Its origin must be one of `QUARTERMASTER_CORS_ORIGINS`.',
    }),
  ),
};

export const ConnectionCreate = Type.Object({
  bundle_id: BundleId,
  end_user: EndUser,
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Some of the scopes that the bundle declares. Default: all of them.',
    }),
  ),
  ...LinkOptions,
});
export type ConnectionCreate = Static<typeof ConnectionCreate>;

export const ConnectionLinkRequest = Type.Object(LinkOptions);
export type ConnectionLinkRequest = Static<typeof ConnectionLinkRequest>;

/** What the back end of an application sends when the browser has returned to it. */
export const ConnectionConfirmation = Type.Object({
  confirmation: Type.String({
    minLength: 1,
    maxLength: 256,
    description: '`confirmation` of the return URL. It works once, for 10 minutes.',
    'x-secret': true,
  }),
  end_user: Type.String({
    minLength: 1,
    maxLength: 256,
    description:
      'Id of the user who is signed in at the application in the browser that returned. Take it from your session.',
  }),
  preview: Type.Optional(
    Type.Boolean({
      description:
        'Answer the connection with the `account` that it would get, and connect nothing yet. Show the account to the user, and send the same confirmation again once the user agrees.',
    }),
  ),
});
export type ConnectionConfirmation = Static<typeof ConnectionConfirmation>;

/** A connection with the link that the end user opens. */
export const ConnectionLink = Type.Object({
  ...Connection.properties,
  connect_url: Type.String({
    description: 'Send it to the end user. It works once, in one browser.',
    'x-secret': true,
  }),
  expires_timestamp: Timestamp,
});
export type ConnectionLink = Static<typeof ConnectionLink>;

export const EndUserDeletion = Type.Object({
  object: Type.Literal('EndUserDeletion'),
  end_user: EndUser,
  connections: Type.Integer({ description: 'Number of connections that were revoked and deleted.' }),
});
export type EndUserDeletion = Static<typeof EndUserDeletion>;

/** The OAuth client that the operator registered with the third party of a bundle. It does not contain the secret. */
export const BundleOauthClient = Type.Object({
  object: Type.Literal('BundleOauthClient'),
  bundle_id: BundleId,
  client_id: Nullable('Null while no client is set.'),
  redirect_uri: Type.String({ description: 'Register this redirect URI with the third party.' }),
  updated_timestamp: Type.Union([Timestamp, Type.Null()]),
});
export type BundleOauthClient = Static<typeof BundleOauthClient>;

export const BundleOauthClientUpdate = Type.Object({
  client_id: Type.String({ minLength: 1, maxLength: 1024 }),
  client_secret: Type.Optional(
    Type.String({ minLength: 1, maxLength: 4096, description: 'Absent for a public client.', 'x-secret': true }),
  ),
});
export type BundleOauthClientUpdate = Static<typeof BundleOauthClientUpdate>;
