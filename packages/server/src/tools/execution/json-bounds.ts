/** Whether a JSON value has at most `maxDepth` levels. The recursion stops there, so deep values cannot exhaust the stack. */
export function isShallow(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  // Iterates an array directly: listing its keys costs more.
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (maxDepth === 0 || !isShallow(member, maxDepth - 1)) return false;
  }
  return true;
}

/** The deepest nesting of inputs and outputs. Deeper values are not visited by any recursive function. */
export const maxOutputDepth = 64;

/**
 * The maximum number of values and member names of an output. 1 MiB of JSON can have seven times as many, and each step
 * after a run visits all of them.
 */
export const maxOutputParts = 50_000;

/** Whether a JSON value consists of at most `most` values and names. It visits no more than that. */
export function hasFewParts(value: unknown, most: number): boolean {
  // An explicit stack, so that deep nesting cannot exhaust the call stack.
  const pending: unknown[] = [value];
  // Counts the values on the stack too.
  let parts = 1;
  while (pending.length > 0 && parts <= most) {
    const next = pending.pop();
    if (Array.isArray(next)) {
      parts += next.length;
      if (parts <= most) pending.push(...next);
    } else if (typeof next === 'object' && next !== null) {
      for (const name in next) {
        if (parts > most) break;
        if (!Object.hasOwn(next, name)) continue;
        parts += 2;
        pending.push(Reflect.get(next, name));
      }
    }
  }
  return parts <= most;
}

/** The bytes of a value as JSON, or null when it cannot be JSON (a cycle, a BigInt). */
export function jsonBytes(value: unknown): number | null {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? 0 : Buffer.byteLength(text);
  } catch {
    return null;
  }
}
