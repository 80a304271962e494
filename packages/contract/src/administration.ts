import { type Static, Type } from 'typebox';
import { lastTime, Timestamp } from './envelope.ts';
import {
  defaultScopes,
  keyCollectionPattern,
  keyToolPattern,
  maxKeyCollections,
  maxKeyTools,
  type OauthScope,
  oauthScopes,
  type Scope,
  scopes,
} from './scopes.ts';

/**
 * The management of projects, keys and applications. Source: docs/contract.md "Keys".
 */

const ProjectName = Type.String({ minLength: 1, maxLength: 127 });
export const Project = Type.Object({
  object: Type.Literal('Project'),
  project_id: Type.String(),
  name: Type.String({ description: 'Name of the project, unique in the installation.' }),
  created_timestamp: Timestamp,
});
export type Project = Static<typeof Project>;
export const ProjectCreate = Type.Object({ name: ProjectName });
export type ProjectCreate = Static<typeof ProjectCreate>;

/** What the report of a deletion counts. */
export const deletedCounts = [
  ...(['collections', 'records', 'chunks', 'files', 'artifacts', 'bytes', 'runs'] as const),
  ...(['credential_profiles', 'keys'] as const),
];
export type DeletedCount = (typeof deletedCounts)[number];
const Count = Type.Integer({ minimum: 0 });
export const ProjectDeletion = Type.Object({
  object: Type.Literal('ProjectDeletion'),
  project_id: Type.String(),
  name: Type.String({ description: 'The name that the project had.' }),
  state: Type.Enum(['running', 'done'], { description: '`done`: nothing of the project is left.' }),
  begun_timestamp: Timestamp,
  ended_timestamp: Type.Union([Type.Integer(), Type.Null()], { description: 'Null while it runs.' }),
  steps: Type.Integer({ minimum: 0, description: 'Transactions of the deletion so far.' }),
  deleted: Type.Object(
    Object.fromEntries(deletedCounts.map((name) => [name, Count])) as Record<DeletedCount, typeof Count>,
    {
      description: 'Rows that the deletion has removed so far, and the `bytes` of stored contents.',
    },
  ),
});
export type ProjectDeletion = Static<typeof ProjectDeletion>;

export const keyStates = ['active', 'expired', 'revoked'] as const;
const OptionalTime = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });
const ScopeList = Type.Array(Type.Unsafe<Scope>(Type.Enum([...scopes])), {
  minItems: 1,
  maxItems: scopes.length,
  default: [...defaultScopes],
  description:
    'Permissions of the key. `files`, `collections` and `plugins` each include their `:read`. `plugins:read` runs only plugins ' +
    'whose `effects` are `read`. `admin` includes `metrics`.',
});

const Tools = Type.Array(Type.String({ minLength: 1, maxLength: 129, pattern: keyToolPattern }), {
  minItems: 1,
  maxItems: maxKeyTools,
});

const KeyCollections = Type.Array(Type.String({ minLength: 24, maxLength: 24, pattern: keyCollectionPattern }), {
  minItems: 1,
  maxItems: maxKeyCollections,
});

export const ApiKey = Type.Object({
  object: Type.Literal('ApiKey'),
  key_id: Type.String(),
  project_id: Type.String(),
  name: Type.String(),
  hint: Type.String({ description: 'The last four characters of the key.' }),
  scopes: Type.Array(Type.Unsafe<Scope>(Type.Enum([...scopes]))),
  state: Type.Enum([...keyStates]),
  created_timestamp: Timestamp,
  expires_timestamp: OptionalTime('null: does not expire.'),
  revoked_timestamp: OptionalTime('null: was not revoked.'),
  last_used_timestamp: OptionalTime('Rounded to the minute; null if never.'),
  maker_key_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the key that created this key; null if an administrator or a command created it.',
  }),
  collections: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only collections that exist for the key; null: every collection of the project.',
  }),
  tools: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only bundles and plugins that exist for the key; null: every plugin.',
  }),
});
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 127, description: 'Name that describes the use of the key.' }),
  scopes: Type.Optional(ScopeList),
  expires_timestamp: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: lastTime }), Type.Null()], {
      description: 'Time in the future at which the key expires. If it is null or absent, the key does not expire.',
    }),
  ),
  collections: Type.Optional(
    Type.Union([KeyCollections, Type.Null()], {
      description:
        'Ids of the only collections that exist for the key, on every path and over MCP. It sees the files of their records and ' +
        'its own uploads, and cannot create collections. If it is null or absent: every collection, or those of the key that creates it.',
    }),
  ),
  tools: Type.Optional(
    Type.Union([Tools, Type.Null()], {
      description:
        'The only plugins that exist for the key, over REST and MCP: each item is a `bundle_id` or `bundle_id/plugin_id`. Names ' +
        'that are not installed permit nothing. If it is null or absent: every plugin, or those of the key that creates it.',
    }),
  ),
});
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyRevokeQuery = Type.Object({
  descendants: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Also revoke the keys that it created, directly or through other keys.',
    }),
  ),
});

/** The only response with the key itself. */
export const NewApiKey = Type.Interface([ApiKey], {
  key: Type.String({ description: 'The key. It is shown only in this answer.', 'x-secret': true }),
});
export type NewApiKey = Static<typeof NewApiKey>;

export const ApiKeyRotate = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 2_592_000,
      default: 3600,
      description: 'Seconds for which the old key still works.',
    }),
  ),
});
export type ApiKeyRotate = Static<typeof ApiKeyRotate>;

const OauthScopes = Type.Array(Type.Unsafe<OauthScope>(Type.Enum([...oauthScopes])), {
  minItems: 1,
  maxItems: oauthScopes.length,
});
const Ids = (description: string) =>
  Type.Union([Type.Array(Type.String({ minLength: 1, maxLength: 129 }), { minItems: 1, maxItems: 200 }), Type.Null()], {
    description,
  });

/** What an application asks for, for the page of consent. */
export const ConsentRequest = Type.Object({
  client_id: Type.String(),
  host: Type.Union([Type.String(), Type.Null()]),
  name: Type.Union([Type.String(), Type.Null()]),
  /** A host, or a scheme with its colon. */
  redirect_to: Type.String(),
  redirect_kind: Type.Enum(['site', 'loopback', 'program']),
  resource: Type.String(),
  scopes: OauthScopes,
});
export type ConsentRequest = Static<typeof ConsentRequest>;

export const ConsentDecision = Type.Union([
  Type.Object({ decision: Type.Literal('deny') }),
  Type.Object({
    decision: Type.Literal('allow'),
    project_id: Type.String({ minLength: 1, maxLength: 256 }),
    scopes: OauthScopes,
    collections: Ids('The only collections that exist for the application; null: every collection.'),
    tools: Ids('The only bundles and plugins that exist for the application; null: every plugin.'),
  }),
]);
export type ConsentDecision = Static<typeof ConsentDecision>;

export const ContinueUrl = Type.Object({ continue_url: Type.String() });
export type ContinueUrl = Static<typeof ContinueUrl>;

/** What a person has allowed an application to do. */
export const Application = Type.Object({
  object: Type.Literal('Application'),
  application_id: Type.String(),
  client_id: Type.String({
    description: 'URL of the metadata document of the application, or the id of its registration.',
  }),
  host: Type.Union([Type.String(), Type.Null()], {
    description: 'Host of the metadata document; null for a registered application, whose name anybody can choose.',
  }),
  name: Type.Union([Type.String(), Type.Null()], { description: 'The name that the application gives itself.' }),
  project_id: Type.String(),
  account_id: Type.String({ description: 'Id of the person who allowed it.' }),
  resource: Type.String({ description: 'URL of the only MCP server that accepts its tokens.' }),
  scopes: Type.Array(Type.Unsafe<OauthScope>(Type.Enum([...oauthScopes]))),
  collections: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only collections that exist for the application; null: every collection.',
  }),
  tools: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only bundles and plugins that exist for the application; null: every plugin.',
  }),
  created_timestamp: Timestamp,
  last_used_timestamp: Type.Union([Timestamp, Type.Null()]),
  expires_timestamp: Timestamp,
});
export type Application = Static<typeof Application>;
