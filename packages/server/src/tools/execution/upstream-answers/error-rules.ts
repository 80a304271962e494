import type { ErrorMapping } from '@quartermaster/plugin-kit';
import { compileExpression, type Evaluate } from '../expressions/mapping.ts';

/** The compiled `errors` of a manifest: expressions that find the reason in an error answer, and messages for statuses. */
export interface ErrorRules {
  readonly message: Evaluate | null;
  readonly code: Evaluate | null;
  /** Messages of the manifest by HTTP status. */
  readonly statuses: ReadonlyMap<number, string>;
}

/** @throws Error whose message names the expression that does not parse */
export function compileErrorRules({ message, code, statuses = {} }: ErrorMapping = {}): ErrorRules {
  return {
    message: compileExpression('errors.message', message),
    code: compileExpression('errors.code', code),
    statuses: new Map(Object.entries(statuses).map(([status, text]) => [Number(status), text])),
  };
}

/** The rules of a call: those of its own mapping, and those of the bundle where it has none. */
export function mergeErrorMappings(bundle: ErrorMapping | undefined, own: ErrorMapping | undefined): ErrorMapping {
  return { ...bundle, ...own, statuses: { ...bundle?.statuses, ...own?.statuses } };
}
