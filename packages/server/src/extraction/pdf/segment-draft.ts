import { correctArabic, withoutLigatures } from './arabic.ts';
import type { Segment } from './read-segments.ts';
import type { Style, TextProbe } from './text-probe.ts';

/** A piece of a line that is being put together. */
export interface SegmentDraft {
  readonly y: number;
  add(code: number, at: number, style: Style): void;
  addBlank(): void;
  /** Whether a character stands so far away that it belongs to another piece. */
  isApart(at: number, code: number, size: number): boolean;
  /** Whether the mark of a note meets a word of which it is no part: it stands behind the word, or before the note. */
  isMark(code: number, size: number): boolean;
  /** Undefined when it holds blanks only. */
  finish(hyphen: boolean): Segment | undefined;
}

/** Wider than so many times the size of the letters: not a blank between words, but another cell or column. */
const wideGap = 1.15;
const blank = 32;

export function createSegmentDraft(probe: TextProbe, first: number): SegmentDraft {
  const codes: number[] = [];
  /** Their indices in the text of the page; -1 for a blank. */
  const places: number[] = [];
  /** How many characters each style has set; nearly always it is that of the one before. */
  const styles: Array<{ readonly style: Style; count: number }> = [];
  const y = probe.baseline(first);
  let [left, right] = probe.box(first);
  let rightToLeft = false;
  let text = '';

  /** Takes in the last character; those between it and the first need not be asked. */
  function measure(): void {
    const box = probe.box(places.at(-1) ?? first);
    left = Math.min(left, box[0]);
    right = Math.max(right, box[1]);
  }

  return {
    y,
    add: (code, at, style) => {
      codes.push(code);
      places.push(at);
      text += characterOf(code);
      rightToLeft ||= isRightToLeft(code);
      const last = styles.at(-1);
      if (last?.style === style) last.count += 1;
      else styles.push({ style, count: 1 });
    },
    addBlank: () => {
      codes.push(blank);
      text += ' ';
      places.push(-1);
    },
    isApart: (at, code, size) => {
      measure();
      const box = probe.box(at);
      const gap = Math.max(box[0] - right, left - box[1]);
      // Words of another script stand at the other end of what was read so far.
      const widest = (rightToLeft ? 4 : 1) * wideGap * Math.max(size, 1);
      return (gap > widest && !isRightToLeft(code)) || Math.abs(probe.baseline(at) - y) > 0.9 * size;
    },
    isMark: (code, size) => {
      const usual = styles[0]?.style.size ?? 0;
      if (isDigit(code)) return size < 0.8 * usual && codes.length > 1 && codes.slice(-2).every(isLetter);
      return usual < 0.8 * size && isLetter(code) && codes.length <= 3 && codes.every(isDigit);
    },
    finish: (hyphen) => {
      measure();
      const read = rightToLeft ? textOfArabic({ codes, places }, probe) : withMarksApart(withoutLigatures(text));
      if (read.trim() === '') return undefined;
      const sizes = new Map<number, number>();
      for (const { style, count } of styles) sizes.set(style.size, (sizes.get(style.size) ?? 0) + count);
      const [size] = [...sizes].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
      const isMost = (has: (style: Style) => boolean) =>
        styles.reduce((sum, { style, count }) => sum + (has(style) ? count : 0), 0) > codes.length / 2;
      const [bold, mono] = [isMost((style) => style.bold), isMost((style) => style.mono)];
      return { text: read, left, right, y, size, bold, mono, hyphen };
    },
  };
}

const raised = /[⁰¹²³⁴-⁹]/;
/** Raised digits behind a word are the mark of a note; behind three letters or fewer ² and ³ may be a unit's. */
const mark = /(?<=\p{L}{4})(?=[⁰¹²³⁴-⁹])|(?<=\p{L}{2})(?=[⁰¹⁴-⁹])/gu;

function withMarksApart(text: string): string {
  return raised.test(text) ? text.replace(mark, ' ').replace(/^([⁰¹²³⁴-⁹]{1,3})(?=\p{L})/u, '$1 ') : text;
}

function textOfArabic(
  { codes, places }: { codes: readonly number[]; places: readonly number[] },
  probe: TextProbe,
): string {
  const leftOf = (place: number) => (place < 0 ? Number.NaN : probe.box(place)[0]);
  return correctArabic(codes.map(characterOf), (index) => leftOf(places[index] ?? -1));
}

function characterOf(code: number): string {
  return code < 0x10000 ? String.fromCharCode(code) : String.fromCodePoint(code <= 0x10ffff ? code : 0xfffd);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLetter(code: number): boolean {
  return code > 64 && /\p{L}/u.test(String.fromCodePoint(code));
}

function isRightToLeft(code: number): boolean {
  return (code >= 0x590 && code <= 0x8ff) || (code >= 0xfb1d && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfeff);
}
