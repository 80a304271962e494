import type { Scope } from '@quartermaster/contract';
import type { KeyTools } from './key-tools.ts';

/** The caller of a request: its project and its key. */
export interface Caller {
  readonly projectId: string;
  readonly keyId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly tools: KeyTools;
}
