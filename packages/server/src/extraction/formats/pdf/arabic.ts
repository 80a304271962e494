const arabic = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const mark = /\p{Mn}/u;

/**
 * The text of a piece of a line. PDFium gives words from right to left in the order of reading, but turns round what one
 * glyph stands for (as lam with alef), puts marks before their letters, and loses blanks where the direction changes.
 * Ligatures become letters.
 */
export function correctArabic(text: readonly string[], leftOf: (index: number) => number): string {
  const lefts = text.map((_, index) => leftOf(index));
  const order = isBackwards(text, lefts) ? turned(text) : text;
  const result: string[] = [];
  for (let at = 0; at < order.length; at += 1) {
    const character = order[at] ?? '';
    const next = order[at + 1] ?? '';
    const length = order === text ? glyphLength(text, lefts, at) : 1;
    if (length > 1) {
      result.push(...text.slice(at, at + length).reverse());
      at += length - 1;
    } else if (mark.test(character) && arabic.test(next) && !mark.test(next)) {
      if (result.at(-1) === ' ' && order === text) result.pop();
      result.push(next, character);
      at += 1;
    } else result.push(character);
  }
  return spaced(withoutLigatures(result.join('')));
}

/** Returns how many letters one glyph represents: they share the same position. */
function glyphLength(text: readonly string[], lefts: readonly number[], from: number): number {
  let length = 1;
  while (length < longestGlyph && arabic.test(text[from + length] ?? '') && lefts[from + length] === lefts[from]) {
    length += 1;
  }
  return arabic.test(text[from] ?? '') ? length : 1;
}
const longestGlyph = 32;

/** Read from right to left, each letter is to the left of the one before it. */
function isBackwards(text: readonly string[], lefts: readonly number[]): boolean {
  let forwards = 0;
  let backwards = 0;
  for (let at = 1; at < text.length; at += 1) {
    const pair = [text[at - 1] ?? '', text[at] ?? ''];
    if (!pair.every((character) => arabic.test(character) && !mark.test(character))) continue;
    const step = (lefts[at] ?? 0) - (lefts[at - 1] ?? 0);
    if (step < 0) forwards += 1;
    else if (step > 0) backwards += 1;
  }
  return backwards > forwards;
}

/** Reverses each run of Arabic. */
function turned(text: readonly string[]): string[] {
  const result: string[] = [];
  let run: string[] = [];
  for (const character of [...text, '']) {
    if (arabic.test(character)) run.push(character);
    else {
      result.push(...run.reverse(), character);
      run = [];
    }
  }
  return result;
}

function spaced(text: string): string {
  return text.replace(/(?<=[a-zA-Z])(?=[\u0600-\u06ff])|(?<=[\u0620-\u06ff])(?=[a-zA-Z])/g, ' ').replace(/ {2,}/g, ' ');
}

/** Replaces ligatures and presentation forms by letters. */
export function withoutLigatures(text: string): string {
  return text.replace(/[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc]+/g, (forms) => forms.normalize('NFKC'));
}
