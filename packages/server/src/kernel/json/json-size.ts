/**
 * The bytes of a parsed JSON value as JSON text in UTF-8. Stops counting once the limit is exceeded and then returns some
 * number above it, so the work is bounded by the limit. Names and texts are counted with their escapes.
 */
export function jsonSize(value: unknown, limit: number): number {
  // A stack of its own: nesting costs no frames.
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

/** Names, colons and commas. The values are left to the caller, unless there are too many already. */
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
  // Each UTF-16 unit takes one byte at least.
  if (text.length + 2 > limit) return text.length + 2;
  return Buffer.byteLength(JSON.stringify(text));
}
