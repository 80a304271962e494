/** The permissions of a key. Source: docs/contract.md "Keys". */
export const scopes = ['files', 'collections', 'plugins', 'metrics', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The default scopes of a new key. */
export const defaultScopes = ['files', 'collections', 'plugins'] as const satisfies readonly Scope[];
