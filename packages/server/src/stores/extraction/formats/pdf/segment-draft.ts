import type { Style, TextProbe } from './text-probe.ts';

/** A piece of a line without a wide gap. Pieces are in the order of the file, which is usually the reading order. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** The baseline in points from the bottom of the page, like all PDF coordinates. */
  readonly y: number;
  /** The font size of most of its characters. */
  readonly size: number;
  readonly bold: boolean;
  readonly mono: boolean;
  /** It does not run from left to right, unlike most of its page. */
  readonly turned?: boolean;
  /** PDFium reported a line end after it, with a hyphen that only breaks a word. */
  readonly hyphen: boolean;
}

/** Builds pieces of lines, one after another. */
export interface SegmentDraft {
  /** Begins a piece at this character, which is added later. */
  begin(first: number): void;
  /** Whether a piece was begun and not finished. */
  isOpen(): boolean;
  /** The baseline of the piece. */
  y(): number;
  add(code: number, at: number, style: Style): void;
  addBlank(): void;
  /** Whether a character is so far away that it belongs to another piece. */
  isApart(at: number, size: number): boolean;
  /** Whether the mark of a note meets a word of which it is not a part: it follows the word or precedes the note. */
  isMark(code: number, at: number, size: number): boolean;
  /** Whether a character stands above the line behind a number, as the 6 of 10⁶ does. */
  isPower(code: number, at: number, size: number): boolean;
  addPower(): void;
  /** Undefined when it holds blanks only. */
  finish(hyphen: boolean): Segment | undefined;
}

/** A gap wider than this multiple of the letter size separates cells or columns, not words. */
export const wideGap = 1.15;
const blank = 32;

const power = 94; // ^
const closingBracket = 41;
/** The minus and plus of an exponent. */
const signs = new Set([43, 45, 0x2212, 0x2013]);
const leastRise = 0.2;
const leastFall = 0.05;

interface StyledRun {
  readonly style: Style;
  count: number;
}

export function createSegmentDraft(probe: TextProbe): SegmentDraft {
  let isOpen = false;
  let styles: StyledRun[] = [];
  let current: StyledRun | undefined;
  let codes: number[] = [];
  /** The last character, or the first one after a blank. */
  let [first, last, left, right, y] = [0, 0, 0, 0, 0];

  /** Extends the piece to the last character. The characters before it are not measured. */
  function measure(): void {
    probe.measure(last);
    left = Math.min(left, probe.left());
    right = Math.max(right, probe.right());
  }

  return {
    begin: (at) => {
      isOpen = true;
      [first, last, styles, current, codes] = [at, at, [], undefined, []];
      probe.measure(at);
      [left, right, y] = [probe.left(), probe.right(), probe.baseline(at)];
    },
    isOpen: () => isOpen,
    y: () => y,
    add: (code, at, style) => {
      codes.push(code);
      last = at;
      if (current?.style !== style) {
        current = { style, count: 0 };
        styles.push(current);
      }
      current.count += 1;
    },
    addBlank: () => {
      codes.push(blank);
      last = first;
    },
    isApart: (at, size) => {
      measure();
      probe.measure(at);
      const gap = Math.max(probe.left() - right, left - probe.right());
      return gap > wideGap * Math.max(size, 1) || Math.abs(probe.baseline(at) - y) > 0.9 * size;
    },
    isMark: (code, at, size) => {
      const usual = styles[0]?.style.size ?? 0;
      if (isDigit(code)) {
        const isSmall = size < 0.8 * usual && codes.length > 1 && codes.slice(-2).every(isLetter);
        // A lowered digit belongs to a formula, such as the 2 of CO₂.
        return isSmall && probe.baseline(at) > y - leastFall * usual;
      }
      return usual < 0.8 * size && isLetter(code) && codes.length <= 3 && codes.every(isDigit);
    },
    isPower: (code, at, size) => {
      if (!isDigit(code) && !signs.has(code)) return false;
      if (!isDigit(codes.at(-1) ?? 0) && codes.at(-1) !== closingBracket) return false;
      const usual = current?.style.size ?? 0;
      return size <= usual && probe.baseline(at) - probe.baseline(last) > leastRise * usual;
    },
    addPower: () => void codes.push(power),
    finish: (hyphen) => {
      measure();
      isOpen = false;
      const text = withMarksApart(withoutLigatures(codes.map(characterOf).join('')));
      if (text.trim() === '') return undefined;
      return { text, left, right, y, ...lookOf(styles, codes.length), hyphen };
    },
  };
}

/** Returns size, weight and width of most of the characters. */
export function lookOf(styles: readonly StyledRun[], length: number) {
  const [only, ...others] = styles;
  if (only !== undefined && others.length === 0) {
    const isMost = only.count > length / 2;
    const { size, bold, mono, turned } = only.style;
    return { size, bold: isMost && bold, mono: isMost && mono, turned: isMost && turned };
  }
  const sizes = new Map<number, number>();
  for (const { style, count } of styles) sizes.set(style.size, (sizes.get(style.size) ?? 0) + count);
  const [size] = [...sizes].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  const isMost = (has: (style: Style) => boolean) =>
    styles.reduce((sum, { style, count }) => sum + (has(style) ? count : 0), 0) > length / 2;
  const turned = isMost((style) => style.turned);
  return { size, bold: isMost((style) => style.bold), mono: isMost((style) => style.mono), turned };
}

const raised = /[⁰¹²³⁴-⁹]/;
/** Raised digits behind a word are the mark of a note; behind three letters or fewer ² and ³ may be a unit's. */
const mark = /(?<=\p{L}{4})(?=[⁰¹²³⁴-⁹])|(?<=\p{L}{2})(?=[⁰¹⁴-⁹])/gu;

function withMarksApart(text: string): string {
  return raised.test(text) ? text.replace(mark, ' ').replace(/^([⁰¹²³⁴-⁹]{1,3})(?=\p{L})/u, '$1 ') : text;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  return code > 64 && /\p{L}/u.test(String.fromCodePoint(code));
}

export function characterOf(code: number): string {
  return code < 0x10000 ? String.fromCharCode(code) : String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd);
}

/** Replaces ligatures and presentation forms by letters. */
export function withoutLigatures(text: string): string {
  return text.replace(/[\ufb00-\ufb06\ufb50-\ufdff\ufe70-\ufefc]+/g, (forms) => forms.normalize('NFKC'));
}

/** PDFium represents a hyphen at the end of a line by U+FFFE or U+0002. */
export function isSoftHyphen(code: number): boolean {
  return code === 0xfffe || code === 2 || code === 0xad;
}
