import { AsyncLocalStorage } from 'node:async_hooks';
import type { HandlerContext } from '@quartermaster/plugin-kit';

export interface PieceRun {
  readonly context: HandlerContext;
  /** The names of its secrets, by the forms of their placeholders. */
  readonly forms: ReadonlyMap<string, string>;
  hasSentSecret: boolean;
  /** Members of the answer of a token endpoint that the piece has read and the credentials do not have. */
  readonly missing: Set<string>;
  /** Why the run fails, whatever the piece does afterwards. */
  refusal?: Error;
}

/** The run that code belongs to. A callback that survives its run keeps that run, whose context refuses further requests. */
export const currentRun = new AsyncLocalStorage<PieceRun>();
