import { type Static, Type } from 'typebox';
import { ListQuery, lastTime, Timestamp } from '../envelope.ts';

interface Action {
  /** The kind of object that the event names. */
  readonly object: string;
  /** What happened. */
  readonly meaning: string;
  /** Default: `done`. */
  readonly outcome?: 'refused' | 'begun';
}

/** Every action of the audit log. The log line of an event has the same name, with `_` instead of the full stop. */
const actions = {
  signed_in: { object: 'session', meaning: 'A person signed in.' },
  sign_in_refused: {
    object: 'account',
    meaning:
      'A sign-in, or the current password of a password change, was refused. `reason`: `unknown_name`, `wrong_password`, `throttled`, or that of the identity provider.',
    outcome: 'refused',
  },
  signed_out: { object: 'session', meaning: 'A person signed out, in one browser or everywhere.' },
  'session.ended': {
    object: 'session',
    meaning:
      'A session was ended. `reason`: from the list (`ended`), by a new sign-in of the same browser (`replaced`), or because there were more than 20 (`too_many`).',
  },
  'password.changed': { object: 'account', meaning: 'A person changed the password. All sessions ended.' },
  'account.created': { object: 'account', meaning: 'An account was created.' },
  'account.changed': { object: 'account', meaning: 'An account was changed.' },
  'account.deleted': { object: 'account', meaning: 'An account was deleted.' },
  'member.set': { object: 'account', meaning: 'A person received a role in a project.' },
  'member.removed': { object: 'account', meaning: 'A person lost the role in a project.' },
  'project.created': { object: 'project', meaning: 'A project was created.' },
  'project.deletion_begun': { object: 'project', meaning: 'The deletion of a project began.' },
  'project.deleted': { object: 'project', meaning: 'Nothing of a deleted project is left.' },
  'key.created': { object: 'key', meaning: 'An API key was created.' },
  'key.rotated': { object: 'key', meaning: 'An API key was replaced by a new one.' },
  'key.revoked': { object: 'key', meaning: 'An API key was revoked.' },
  'rate_limit.created': { object: 'rate_limit', meaning: 'A rate limit was created.' },
  'rate_limit.deleted': { object: 'rate_limit', meaning: 'A rate limit was deleted.' },
  'credential_profile.created': { object: 'credential_profile', meaning: 'A credential profile was created.' },
  'credential_profile.changed': {
    object: 'credential_profile',
    meaning: 'The credentials of a profile were replaced.',
  },
  'credential_profile.deleted': { object: 'credential_profile', meaning: 'A credential profile was deleted.' },
  'connection.linked': { object: 'connection', meaning: 'A link was created with which an end user connects.' },
  'connection.connected': { object: 'connection', meaning: 'An end user connected an account.' },
  'connection.refused': {
    object: 'connection',
    meaning:
      'An end user did not connect. `reason`: `cancelled`, `other_browser`, `other_end_user`, `unused`, or the error code of the provider.',
    outcome: 'refused',
  },
  'connection.refresh_failed': { object: 'connection', meaning: 'The provider refused to refresh a connection.' },
  'connection.revoked': {
    object: 'connection',
    meaning: 'A connection was revoked and deleted. `provider` tells whether the provider confirmed it.',
  },
  'oauth_client.set': { object: 'bundle', meaning: 'The OAuth client of a bundle was set.' },
  'oauth_client.deleted': { object: 'bundle', meaning: 'The OAuth client of a bundle was deleted.' },
  'application.allowed': { object: 'application', meaning: 'A person allowed an application to act.' },
  'application.denied': { object: 'client', meaning: 'A person refused an application.' },
  'application.revoked': { object: 'application', meaning: 'An application was signed out.' },
  'application.ended_by_reuse': {
    object: 'application',
    meaning: 'A code or token was used again, so all tokens of the application ended.',
  },
  'collection.created': { object: 'collection', meaning: 'A collection was created.' },
  'collection.changed': { object: 'collection', meaning: 'The settings of a collection were changed.' },
  'collection.evaluated': { object: 'collection', meaning: 'A collection was evaluated with a sheet of questions.' },
  'collection.deleted': { object: 'collection', meaning: 'A collection was deleted with everything in it.' },
  'embedding_model.chosen': {
    object: 'embedding_model',
    meaning: 'An administrator chose a recommended embedding model. The download begins after this entry.',
    outcome: 'begun',
  },
  'embedding_model.cancelled': {
    object: 'embedding_model',
    meaning: 'An administrator cancelled the download of an embedding model.',
  },
  'file.deleted': { object: 'file', meaning: 'A file was deleted.' },
  'record.deleted': { object: 'record', meaning: 'A record was deleted with its chunks.' },
  'record.restored': { object: 'record', meaning: 'A deleted record was restored with its chunks.' },
  'chunk.deleted': { object: 'chunk', meaning: 'A chunk was deleted.' },
  'artifact.deleted': { object: 'artifact', meaning: 'An artifact was deleted.' },
  'tool.destructive_run': {
    object: 'tool',
    meaning: 'A run of a plugin with destructive effects was about to start. The event is stored first.',
    outcome: 'begun',
  },
  'bundle.planned': { object: 'bundle', meaning: 'A package was downloaded and read for an installation.' },
  'bundle.installed': { object: 'bundle', meaning: 'A bundle was installed from a package.' },
  'bundle.updated': { object: 'bundle', meaning: 'A bundle was replaced by another version of its package.' },
  'bundle.removed': { object: 'bundle', meaning: 'A bundle that was installed from a package was removed.' },
  'publisher.trusted': { object: 'publisher', meaning: 'A publisher of signed bundles was trusted.' },
  'publisher.distrusted': { object: 'publisher', meaning: 'A publisher of signed bundles was no longer trusted.' },
  'audit.exported': { object: 'audit', meaning: 'The audit log was exported.' },
} as const satisfies Readonly<Record<string, Action>>;
export type AuditAction = keyof typeof actions;
export const auditActions: Readonly<Record<AuditAction, Action>> = actions;
export const auditActionNames = Object.keys(auditActions) as readonly AuditAction[];

/** `unknown`: a client that did not sign in; `command`: a command on the machine; `service`: the service itself. */
export const auditActors = ['account', 'key', 'application', 'command', 'service', 'unknown'] as const;
export type AuditActorKind = (typeof auditActors)[number];

const optionalText = Type.Union([Type.String(), Type.Null()]);

export const AuditEvent = Type.Object({
  object: Type.Literal('AuditEvent'),
  audit_event_id: Type.String(),
  created_timestamp: Timestamp,
  project_id: Type.Union([Type.String(), Type.Null()], { description: 'Project of the object, also a deleted one.' }),
  actor_kind: Type.Unsafe<AuditActorKind>(Type.Enum([...auditActors])),
  actor_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the account, key or application; of a command, the id of the user on the machine.',
  }),
  action: Type.Unsafe<AuditAction>(Type.Enum([...auditActionNames])),
  object_kind: Type.String(),
  object_id: optionalText,
  outcome: Type.Unsafe<'done' | 'refused' | 'begun'>(Type.Enum(['done', 'refused', 'begun'])),
  details: Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Further facts of the action, without secrets and contents.' },
    ),
  ),
  client_address: optionalText,
  request_id: optionalText,
});
export type AuditEvent = Static<typeof AuditEvent>;

const idOf = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));
const time = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: lastTime, description }));

export const AuditEventFilter = Type.Object({
  action: Type.Optional(
    Type.Unsafe<AuditAction>(Type.Enum([...auditActionNames], { description: 'Events of this action.' })),
  ),
  actor: idOf('Events of this account, key, application or user of the machine.'),
  object: idOf('Events of the object with this id.'),
  project_id: idOf('Events of this project, also a deleted one.'),
  from: time('Events at this time or later, in milliseconds since 1970.'),
  to: time('Events before this time, in milliseconds since 1970.'),
});
export type AuditEventFilter = Static<typeof AuditEventFilter>;

export const AuditEventListQuery = Type.Object({ ...ListQuery.properties, ...AuditEventFilter.properties });
export type AuditEventListQuery = Static<typeof AuditEventListQuery>;
