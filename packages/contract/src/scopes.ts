/** The permissions of a key. Source: docs/contract.md "Keys". */
export const scopes = ['files', 'collections', 'plugins', 'metrics', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The default scopes of a new key. */
export const defaultScopes = ['files', 'collections', 'plugins'] as const satisfies readonly Scope[];

/** The maximum number of bundles and plugins that a key names. */
export const maxKeyTools = 200;
/** A `bundle_id` or `bundle_id/plugin_id`. */
export const keyToolPattern = '^[a-z][a-z0-9_]{0,63}(?:/[a-z][a-z0-9_]{0,63})?$';
