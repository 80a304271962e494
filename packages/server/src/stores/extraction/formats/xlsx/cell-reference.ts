/** The column of a reference such as `AB12`, from 0. */
export function columnOf(reference: string): number {
  let column = 0;
  for (const character of reference) {
    const letter = character.toUpperCase().charCodeAt(0) - 64;
    if (letter < 1 || letter > 26) break;
    column = Math.min(column * 26 + letter, 1_000_000);
  }
  return Math.max(0, column - 1);
}

/** The row number of a reference such as `AB12`, counted from 1; 0 when it has none. */
export function rowOf(reference: string): number {
  let start = reference.length;
  while (isDigit(reference.charCodeAt(start - 1))) start -= 1;
  return Number(reference.slice(start));
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
