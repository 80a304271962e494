/** Whether a JSON value is nested at most `maxDepth` deep. Looks no deeper than that, so depth costs no stack. */
export function isShallow(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  // The keys of an array are as many as its items and cost more to list.
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (maxDepth === 0 || !isShallow(member, maxDepth - 1)) return false;
  }
  return true;
}

/** Values and names of members that an output may have. 1 MiB of JSON can have seven times as many, and each step after a run visits all of them. */
export const maxOutputParts = 50_000;
export const tooManyParts = `the output has more than ${maxOutputParts} values and names`;

/** Whether a JSON value consists of at most `most` values and names. Visits at most that many. */
export function hasFewParts(value: unknown, most: number): boolean {
  // A stack of its own: nesting costs no frames.
  const pending: unknown[] = [value];
  // Those on the stack are counted.
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

/** The size of a value as JSON, in bytes, or null when it cannot be JSON (a cycle, a BigInt). */
export function jsonBytes(value: unknown): number | null {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? 0 : Buffer.byteLength(text);
  } catch {
    return null;
  }
}
