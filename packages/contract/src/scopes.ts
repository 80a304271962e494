/** The permissions of a key. Source: docs/contract.md "Keys". */
export const scopes = [
  'files',
  'files:read',
  'collections',
  'collections:read',
  'plugins',
  'plugins:read',
  'connections',
  'metrics',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];

/** What a person may do in a project. Source: docs/guides/people.md. */
export const roles = ['administrator', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The scopes that another one includes. */
const included: Partial<Record<Scope, Scope>> = {
  files: 'files:read',
  collections: 'collections:read',
  plugins: 'plugins:read',
  admin: 'metrics',
};

/** Returns the scopes with those that they include. */
export function withIncluded(given: Iterable<Scope>): ReadonlySet<Scope> {
  return new Set([...given].flatMap((scope) => [scope, ...(included[scope] === undefined ? [] : [included[scope]])]));
}

/** The default scopes of a new key. */
export const defaultScopes = ['files', 'collections', 'plugins'] as const satisfies readonly Scope[];

/** The scopes of the first key: they include all others. */
export const firstScopes = [...defaultScopes, 'connections', 'metrics', 'admin'] as const satisfies readonly Scope[];

/** The maximum number of collections that a key names, and of bundles and plugins. */
export const maxKeyCollections = 200;
export const maxKeyTools = 200;
/** A `collection_id`. */
export const keyCollectionPattern = '^coll[a-z0-9]{20}$';
/** A `bundle_id` or `bundle_id/plugin_id`. */
export const keyToolPattern = '^[a-z][a-z0-9_]{0,63}(?:/[a-z][a-z0-9_]{0,63})?$';

/** What a key may do, as the API shows it. */
export interface ShownPermissions {
  readonly scopes: readonly Scope[];
  /** Ids or names; null: every collection. */
  readonly collections: readonly string[] | null;
  readonly tools: readonly string[] | null;
}

/** The sentences in English. `{names}` stands for the names of collections or plugins. */
export const permissionWords = {
  collections_all: 'Reads, searches, changes and deletes every collection.',
  collections_some: 'Reads, searches, changes and deletes only these collections: {names}.',
  collections_read_all: 'Reads and searches every collection.',
  collections_read_some: 'Reads and searches only these collections: {names}.',
  files_all: 'Uploads, reads and deletes files.',
  files_some: 'Uploads files, and reads only its own uploads and the files of these collections: {names}.',
  files_read_all: 'Reads files.',
  files_read_some: 'Reads only the files of these collections: {names}.',
  plugins_all: 'Runs every plugin, also one that changes or deletes something.',
  plugins_some: 'Runs only these plugins, also if they change or delete something: {names}.',
  plugins_read_all: 'Runs every plugin that only reads.',
  plugins_read_some: 'Runs only these plugins, if they only read: {names}.',
  connections: 'Creates, uses, lists and deletes the connections of end users.',
  metrics: 'Reads the metrics of the whole service.',
  admin: 'Creates, replaces and revokes keys of its project, and changes stored credentials.',
} as const;
export type PermissionWords = Readonly<Record<keyof typeof permissionWords, string>>;

/**
 * Says in sentences what a key may do.
 * @param words the sentences in another language
 */
export function describePermissions(
  { scopes, collections, tools }: ShownPermissions,
  words: PermissionWords = permissionWords,
): string[] {
  const held = withIncluded(scopes);
  const about = (what: 'collections' | 'files' | 'plugins', names: readonly string[] | null): string[] => {
    if (!held.has(`${what}:read`)) return [];
    const start = held.has(what) ? what : (`${what}_read` as const);
    return [words[`${start}_${names === null ? 'all' : 'some'}`].replace('{names}', () => (names ?? []).join(', '))];
  };
  return [
    ...about('collections', collections),
    ...about('files', collections),
    ...about('plugins', tools),
    ...(held.has('connections') ? [words.connections] : []),
    ...(held.has('metrics') ? [words.metrics] : []),
    ...(held.has('admin') ? [words.admin] : []),
  ];
}

/** The scopes that an application can get. `admin` and `metrics` are never given to one. */
export const oauthScopes = [
  'files:read',
  'files',
  'collections:read',
  'collections',
  'plugins:read',
  'plugins',
] as const;
export type OauthScope = (typeof oauthScopes)[number];
