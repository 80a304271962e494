/** What a key may do. Source: docs/contract.md "Keys". */
export const scopes = ['files', 'collections', 'plugins', 'metrics', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The scopes of a new key when none are named. */
export const defaultScopes = ['files', 'collections', 'plugins'] as const satisfies readonly Scope[];
