/**
 * The bytes of a parsed JSON value as JSON text in UTF-8, with escapes. Counting stops when the limit is exceeded and returns some
 * larger number, so the limit bounds the work.
 */
export function jsonSize(value: unknown, limit: number): number {
  // An explicit stack, so that deep nesting cannot exhaust the call stack.
  const pending: unknown[] = [value];
  let size = 0;
  while (pending.length > 0 && size <= limit) {
    const next = pending.pop();
    if (Array.isArray(next)) {
      size += 2 + Math.max(0, next.length - 1);
      if (size <= limit) for (const item of next) pending.push(item);
    } else if (typeof next === 'object' && next !== null) {
      size += 2 + sizeOfMembers(next, limit - size, pending);
    } else if (typeof next === 'string') {
      size += sizeOfText(next, limit - size);
    } else {
      size += String(next).length;
    }
  }
  return size;
}

/** Counts names, colons and commas, and pushes the values to `pending` unless the limit is exceeded. */
function sizeOfMembers(object: object, limit: number, pending: unknown[]): number {
  let size = 0;
  let comma = 0;
  for (const name in object) {
    if (!Object.hasOwn(object, name)) continue;
    size += comma + 1 + sizeOfText(name, limit - size);
    if (size > limit) break;
    comma = 1;
    pending.push(Reflect.get(object, name));
  }
  return size;
}

function sizeOfText(text: string, limit: number): number {
  // Each UTF-16 unit takes at least one byte.
  if (text.length + 2 > limit) return text.length + 2;
  return Buffer.byteLength(JSON.stringify(text));
}
