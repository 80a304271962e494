const power = /^[+\-−–]?\d{1,4}(?:[.,–-]\d{1,4}){0,9}$/;
const variable = /^[\p{Ll}\p{Lu}]$/u;
const expression = /^(?=[^(])(?=.*[\d+\-−/*])[\p{L}\d+\-−/*.,() ]{2,20}$/u; // bounded: at most 20 characters
/** Single letters behind a number that make it an ordinal: 5e, 1o, 3a. */
const ordinals = new Set(['e', 'o', 'a', 'º', 'ª']);
const raisedDigits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const unit = /(?:^|\P{L})\p{L}{1,3}$/u; // bounded: four characters
const longestUnit = 3;

/**
 * Writes a raised text so that it does not become a part of the number before it: `10^6`, `2^(n+1)`. Behind a unit or a variable it
 * is `m²`. Other texts, such as the `st` of `1st` and the `[1]` of a note, stay as they are.
 * @param before the text before it, or its last characters
 */
export function raisedText(before: string, text: string): string {
  const raised = text.trim();
  const base = before.at(-1) ?? '';
  if (raised === '' || !/[\p{L}\p{N})\]]/u.test(base)) return text;
  if (power.test(raised)) {
    return unit.test(before.slice(-longestUnit - 1)) && /^\d$/.test(raised)
      ? (raisedDigits[Number(raised)] ?? raised)
      : `^${raised}`;
  }
  if (variable.test(raised)) return isPower(before, raised) ? `^${raised}` : text;
  return expression.test(raised) ? `^(${raised})` : text;
}

/** Other letters behind a letter belong to an abbreviation, such as Dʳ and Nº. */
function isPower(before: string, letter: string): boolean {
  if (!/\p{L}$/u.test(before)) return !ordinals.has(letter);
  return /[nkijxyzpqT]/.test(letter) && !/\p{L}\p{L}$/u.test(before);
}

/** Marks text as struck out. Blanks stay outside of the marks. */
export function struckText(text: string): string {
  const struck = text.trim();
  return struck === '' ? text : text.replace(struck, () => `~~${struck}~~`);
}

/** How a run of text looks. */
export interface RunLook {
  readonly raised: boolean;
  readonly struck: boolean;
}

/** Writes a run of text as it looks. @param before the text before it, or its last characters */
export function markText(before: string, text: string, look: RunLook): string {
  const raised = look.raised ? raisedText(before, text) : text;
  return look.struck ? struckText(raised) : raised;
}
