/** Whether a JSON value is nested at most `maxDepth` deep. Walks with a list of its own: depth costs no stack. */
export function isShallow(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'object' && item !== null) for (const member of Object.values(item)) next.push(member);
    }
    if (next.length > 0 && depth + 1 > maxDepth) return false;
    level = next;
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
