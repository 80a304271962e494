import type { Permissions } from './permissions.ts';

/** The caller of a request: its project, its key, and what it may do. */
export interface Caller {
  readonly projectId: string;
  readonly keyId: string;
  readonly permissions: Permissions;
}
