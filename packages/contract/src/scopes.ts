/** What a key may do. Source: docs/contract.md "Keys". */
export const scopes = ['files', 'collections', 'plugins', 'admin'] as const;
export type Scope = (typeof scopes)[number];
