import { compile, isRegistered } from '@jmespath-community/jmespath';
import type { ErrorMapping, ResponseMapping } from '@quartermaster/plugin-kit';
import type { ErrorCollector, FieldPath } from '../schema/error-collector.ts';

const maxLength = 4_096;
/** The functions that `bounded-interpreter.ts` adds to those of the library. */
const addedFunctions: ReadonlySet<string> = new Set(['html_text']);

/** Checks that the JMESPath expressions of a response compile and call only existing functions. */
export function checkResponse(response: ResponseMapping, root: FieldPath, errors: ErrorCollector): void {
  for (const member of ['output', 'failed_when', 'credentials_rejected_when'] as const) {
    checkExpression(response[member], [...root, member], errors);
  }
  if (response.errors !== undefined) checkErrorMapping(response.errors, [...root, 'errors'], errors);
}

/** Checks the expressions and the statuses of `errors`. */
export function checkErrorMapping(mapping: ErrorMapping, root: FieldPath, errors: ErrorCollector): void {
  checkExpression(mapping.message, [...root, 'message'], errors);
  checkExpression(mapping.code, [...root, 'code'], errors);
  for (const status of Object.keys(mapping.statuses ?? {})) {
    if (!/^[45]\d\d$/.test(status)) errors.add([...root, 'statuses', status], 'Must be a status from 400 to 599.');
  }
}

function checkExpression(expression: string | undefined, path: FieldPath, errors: ErrorCollector): void {
  const message = expression === undefined ? undefined : describeError(expression);
  if (message !== undefined) errors.add(path, message);
}

function describeError(expression: string): string | undefined {
  if (expression.length > maxLength) return `A JMESPath expression has at most ${maxLength} characters.`;
  try {
    const unknown = functionsOf(compile(expression)).find((name) => !isRegistered(name) && !addedFunctions.has(name));
    return unknown === undefined ? undefined : `JMESPath has no function ${unknown}().`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `It is not a JMESPath expression: ${reason.slice(0, 200)}`;
  }
}

/** Returns the names of the called functions. The tree consists of plain objects; a call is `{type: 'Function', name}`. */
function functionsOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const isCall = Reflect.get(node, 'type') === 'Function';
  // A literal contains data, not nodes.
  if (Reflect.get(node, 'type') === 'Literal') return [];
  return [...(isCall ? [String(Reflect.get(node, 'name'))] : []), ...Object.values(node).flatMap(functionsOf)];
}
