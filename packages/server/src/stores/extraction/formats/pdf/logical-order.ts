import bidiJs, { type Bidi } from 'bidi-js';

/** What one glyph of a line represents. */
export interface Glyph {
  /** In the order of reading. A ligature represents several letters. */
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly size: number;
}

// Its types describe the ES module; Node.js loads the CommonJS one, whose only export is the factory.
const bidi = (bidiJs as unknown as () => Bidi)();
/** Between letters of different directions, a gap wider than this multiple of the letter size is a blank. */
const blankGap = 0.25;
const arabicLetter = /[\u0600-\u065f\u066e-\u06ef\u06fa-\u08ff\ufb50-\ufdff\ufe70-\ufeff]/;
const rightToLeftLetter = /[\u0590-\u065f\u066e-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const letter = /\p{L}/u;
/** Marks of direction add nothing to a text that is in the order of reading. */
const directionMark = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Returns the text of a line by the positions of its glyphs, which are in the order of the file. UAX #9 computes the
 * order on screen from that of reading. Applied to the order on screen, it gives that of reading, because it reverses
 * the same runs.
 */
export function readInOrder(glyphs: readonly Glyph[], base: 'rtl' | 'ltr'): string {
  const shown = withBrackets(withBlanks(onScreen(glyphs)));
  const signs = signsOf(shown.map(({ text }) => text));
  const levels = bidi.getEmbeddingLevels(signs, base);
  const order = bidi.getReorderedIndices(signs, levels);
  const read = order.map((at) => {
    const { text = '', isShape = false } = shown[at] ?? {};
    const isReversed = (levels.levels[at] ?? 0) % 2 === 1;
    return isShape && isReversed ? (bidi.getMirroredCharacter(text) ?? text) : text;
  });
  return withBlankBetweenScripts(read.join('').replace(directionMark, '')).replace(/ {2,}/g, ' ').trim();
}

/** Glyphs that stand side by side. */
interface Run {
  readonly kind: 'letters' | 'blank' | 'other';
  /** In the order of the file, which is that of reading for letters that are read from right to left. */
  readonly glyphs: Glyph[];
}

/**
 * Sorts glyphs from left to right. The widths of Arabic letters are those of other forms in some files, so that letters
 * keep the order of the file within a run, and only runs are sorted.
 */
function onScreen(glyphs: readonly Glyph[]): Glyph[] {
  const runs = runsOf(glyphs);
  return runs
    .map((run, index) => ({ run, at: placeOf(run, runs[index - 1], runs[index + 1]) }))
    .sort((a, b) => a.at - b.at)
    .flatMap(({ run }) => (run.kind === 'letters' && !isFromTheLeft(run) ? run.glyphs.toReversed() : run.glyphs));
}

/**
 * Returns twice the middle of a run. PDFium does not know where a blank without a width is: it is at the side of the run
 * before it that faces the run after it.
 */
function placeOf(run: Run, before: Run | undefined, after: Run | undefined): number {
  const { left, right } = extentOf(run);
  if (run.kind !== 'blank' || right - left > 0.01 || before === undefined || after === undefined) return left + right;
  const [first, second] = [extentOf(before), extentOf(after)];
  return 2 * (second.left + second.right < first.left + first.right ? first.left : first.right);
}

function extentOf({ glyphs }: Run): { left: number; right: number } {
  return {
    left: glyphs.reduce((least, glyph) => Math.min(least, glyph.left), Number.POSITIVE_INFINITY),
    right: glyphs.reduce((most, glyph) => Math.max(most, glyph.right), Number.NEGATIVE_INFINITY),
  };
}

function isFromTheLeft({ glyphs }: Run): boolean {
  return (glyphs.at(-1)?.left ?? 0) > (glyphs[0]?.left ?? 0);
}

function runsOf(glyphs: readonly Glyph[]): Run[] {
  const runs: Run[] = [];
  let blanks: Glyph[] = [];
  const flush = () => {
    for (const blank of blanks) runs.push({ kind: 'blank', glyphs: [blank] });
    blanks = [];
  };
  for (const glyph of glyphs) {
    if (glyph.text === ' ') {
      blanks.push(glyph);
      continue;
    }
    const kind = rightToLeftLetter.test(glyph.text) ? 'letters' : 'other';
    const run = runs.at(-1);
    const last = run?.glyphs.at(-1);
    if (run !== undefined && last !== undefined && run.kind === kind && goesOn(last, glyph, { kind, blanks })) {
      run.glyphs.push(...blanks, glyph);
      blanks = [];
    } else {
      flush();
      runs.push({ kind, glyphs: [glyph] });
    }
  }
  flush();
  return runs;
}

function goesOn(last: Glyph, next: Glyph, { kind, blanks }: { kind: Run['kind']; blanks: readonly Glyph[] }): boolean {
  const size = Math.max(last.size, next.size);
  if (kind === 'other') return blanks.length === 0 && Math.abs(next.left - last.right) < 0.35 * size;
  return Math.min(Math.abs(last.left - next.right), Math.abs(next.left - last.right)) < 1.2 * size;
}

/** Some files have no blank between Arabic and Latin words. */
function withBlankBetweenScripts(text: string): string {
  return text.replace(/(?<=[a-zA-Z])(?=[\u0600-\u06ff])|(?<=[\u0620-\u06ff])(?=[a-zA-Z])/g, ' ');
}

interface ShownText {
  readonly text: string;
  /** A bracket as it looks on screen. */
  readonly isShape?: boolean;
}

function withBlanks(shown: readonly Glyph[]): ShownText[] {
  const result: ShownText[] = [];
  for (const [at, glyph] of shown.entries()) {
    const next = shown[at + 1];
    result.push({ text: glyph.text });
    if (next === undefined || rightToLeftLetter.test(glyph.text) === rightToLeftLetter.test(next.text)) continue;
    if (next.left - glyph.right > blankGap * Math.max(glyph.size, next.size)) result.push({ text: ' ' });
  }
  return result;
}

const pairs = ['()', '[]', '{}', '«»'] as const;

/**
 * Some files name the shape of a bracket on screen, others its meaning, and PDFium changes some of them. On screen,
 * brackets form pairs. When those of a line do not, they alternate between opening and closing.
 */
function withBrackets(shown: readonly ShownText[]): ShownText[] {
  const result = [...shown];
  for (const [open = '', close = ''] of pairs) {
    const places = [...result.keys()].filter((at) => result[at]?.text === open || result[at]?.text === close);
    if (places.length % 2 === 1) continue;
    const arePaired = isPaired(
      places.map((at) => result[at]?.text ?? ''),
      open,
    );
    for (const [index, at] of places.entries()) {
      const alternating = index % 2 === 0 ? open : close;
      result[at] = { text: arePaired ? (result[at]?.text ?? '') : alternating, isShape: true };
    }
  }
  return result;
}

/**
 * Returns one character for each text, which has its direction. In Arabic, digits count as Arabic digits (rule W2), which
 * depends on the letter read before them: that to their right, unless they follow a Latin letter to their left.
 */
function signsOf(texts: readonly string[]): string {
  const signs = texts.map((text) => {
    const sign = [...text].find((character) => letter.test(character)) ?? text.charAt(0);
    return sign.length === 1 && !/[\p{C}\p{Z}]/u.test(sign) ? sign : letter.test(sign) ? 'a' : ' ';
  });
  let isArabic = false;
  for (let at = signs.length - 1; at >= 0; at -= 1) {
    const sign = signs[at] ?? '';
    if (letter.test(sign)) isArabic = arabicLetter.test(sign);
    else if (isArabic && isDigit(sign) && !followsLatin(signs, at)) signs[at] = '\u0660';
  }
  return signs.join('');
}

function isDigit(sign: string): boolean {
  return sign >= '0' && sign <= '9';
}

/** Whether the nearest letter to the left of a digit is one that is read from left to right. */
function followsLatin(signs: readonly string[], from: number): boolean {
  for (let at = from - 1; at >= Math.max(0, from - farthestLetter); at -= 1) {
    const sign = signs[at] ?? '';
    if (letter.test(sign)) return !rightToLeftLetter.test(sign);
  }
  return false;
}
const farthestLetter = 64;

function isPaired(brackets: readonly string[], open: string): boolean {
  let depth = 0;
  for (const bracket of brackets) {
    depth += bracket === open ? 1 : -1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
