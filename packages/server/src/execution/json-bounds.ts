/** Whether a JSON value is nested at most `maxDepth` deep. Looks no deeper than that, so depth costs no stack. */
export function isShallow(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  // The keys of an array are as many as its items and cost more to list.
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (maxDepth === 0 || !isShallow(member, maxDepth - 1)) return false;
  }
  return true;
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
