/** An escape within an escape, such as `%2571`, needs a round each. */
const maxRounds = 4;

/**
 * Undoes `%71`, `\x71`, `\u0071`, `\u{71}`, `&#113;` and `&#x71;`, also within each other. Other characters than ASCII become
 * spaces. It works on bytes, because a hostile text may consist of escapes.
 */
export function undoEscapes(bytes: Buffer): Buffer {
  let current = bytes;
  for (let round = 0; round < maxRounds; round += 1) {
    const next = undoOnce(current);
    if (next.length === current.length) break;
    current = next;
  }
  return current;
}

const marks = { percent: 0x25, ampersand: 0x26, backslash: 0x5c, hash: 0x23, brace: 0x7b } as const;
/** The bit that tells lower case from upper case. */
const lower = 0x20;
const letters = { a: 0x61, f: 0x66, u: 0x75, x: 0x78 } as const;

function undoOnce(from: Buffer): Buffer {
  const to = Buffer.allocUnsafe(from.length);
  let size = 0;
  for (let at = 0; at < from.length; size += 1) {
    const byte = from[at] ?? 0;
    const isMark = byte === marks.percent || byte === marks.backslash || byte === marks.ampersand;
    const end = isMark ? endOfEscape(from, at) : at;
    to[size] = end === at ? byte : code < 0x80 ? code : 0x20;
    at = Math.max(end, at + 1);
  }
  return to.subarray(0, size);
}

/** The character of the escape that was read last. */
let code = 0;

/** @returns the start when there is no escape */
function endOfEscape(from: Buffer, at: number): number {
  const [mark, next, third] = [from[at], from[at + 1] ?? 0, from[at + 2] ?? 0];
  let [start, least, most, base] = [at + 1, 2, 2, 16];
  if (mark === marks.backslash) {
    const isU = (next | lower) === letters.u;
    if (!isU && (next | lower) !== letters.x) return at;
    if (!isU) start = at + 2;
    else if (third === marks.brace) [start, least, most] = [at + 3, 1, 6];
    else [start, least, most] = [at + 2, 4, 4];
  } else if (mark === marks.ampersand) {
    if (next !== marks.hash) return at;
    if ((third | lower) === letters.x) [start, least, most] = [at + 3, 1, 6];
    else [start, least, most, base] = [at + 2, 1, 7, 10];
  }
  code = 0;
  let end = start;
  for (; end < start + most; end += 1) {
    const digit = digitOf(from[end] ?? 0);
    if (digit < 0 || digit >= base) break;
    code = code * base + digit;
  }
  return end - start < least ? at : end;
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | lower;
  return letter >= letters.a && letter <= letters.f ? letter - letters.a + 10 : -1;
}
