/*
 * Terms are in JavaScript's order of strings, which compares UTF-16 code units. It differs from the order of the UTF-8
 * bytes in one case: characters above U+FFFF, whose first byte is F0 to F4, come before U+E000 to U+FFFF (EE and EF).
 */

/** Moves the first bytes F0 to F4 before EE and EF, and leaves the order of all other bytes as it is. */
function toOrder(byte: number): number {
  if (byte < 0xee) return byte;
  return byte < 0xf0 ? byte + 5 : byte - 2;
}

/** Compares two terms in UTF-8. Returns a negative number, 0 or a positive number. */
export function compareTerms(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return toOrder(a[at] as number) - toOrder(b[at] as number);
  }
  return a.length - b.length;
}
