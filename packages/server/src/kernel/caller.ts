import type { Scope } from '@quartermaster/contract';

/** Who makes a request: the project and the key that was sent with it. */
export interface Caller {
  readonly projectId: string;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
}
