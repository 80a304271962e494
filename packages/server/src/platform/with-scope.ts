import { type DescribedOperation, textKeyword } from '@quartermaster/contract/operations';
import type { Guard } from './http/guard.ts';

/** Returns the options of a route that requires the scope which the text of its operation names. */
export function withScope<Operation extends DescribedOperation>(guard: Guard, schema: Operation) {
  const { scope } = schema[textKeyword];
  if (scope === undefined) throw new Error(`The operation ${schema.operationId} names no scope.`);
  return { onRequest: guard.requires(scope), schema };
}
