import { compile, isRegistered } from '@jmespath-community/jmespath';
import type { ResponseMapping } from '@quartermaster/plugin-kit';
import type { ErrorCollector, FieldPath } from './error-collector.ts';

const maxLength = 4_096;

/** Checks that the JMESPath expressions of a response compile and call only existing functions. */
export function checkResponse(response: ResponseMapping, root: FieldPath, errors: ErrorCollector): void {
  for (const member of ['output', 'failed_when', 'credentials_rejected_when'] as const) {
    const expression = response[member];
    if (expression === undefined) continue;
    const message = describeError(expression);
    if (message !== undefined) errors.add([...root, member], message);
  }
}

function describeError(expression: string): string | undefined {
  if (expression.length > maxLength) return `A JMESPath expression has at most ${maxLength} characters.`;
  try {
    const unknown = functionsOf(compile(expression)).find((name) => !isRegistered(name));
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
