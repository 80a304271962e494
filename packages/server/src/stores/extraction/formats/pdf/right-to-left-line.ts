import { type Glyph, readInOrder } from './logical-order.ts';
import { characterOf, isSoftHyphen, lookOf, type Segment, wideGap, withoutLigatures } from './segment-draft.ts';
import type { Style, StyleReader, TextProbe } from './text-probe.ts';

interface PlacedGlyph extends Glyph {
  readonly baseline: number;
  readonly style: Style;
}

interface LineOfPage {
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
  /** Whether most letters of the page are read from right to left. */
  readonly onRightToLeftPage: boolean;
  readonly styles: StyleReader;
}

/** Reads a line with letters that are read from right to left, by the positions of its glyphs. */
export function readRightToLeftLine(probe: TextProbe, line: LineOfPage): Segment[] {
  const base = baseOf(line);
  const hyphen = isSoftHyphen(line.codes[line.to - 1] ?? 0);
  const glyphs = glyphsOf(probe, line);
  if (isTurned(glyphs)) return toSegments(glyphs, glyphs.map(({ text }) => text).join(''), hyphen);
  return byBaseline(glyphs).flatMap((group) => {
    const pieces = apart(group);
    const ordered = base === 'rtl' ? pieces.reverse() : pieces;
    return ordered.flatMap((piece) => toSegments(piece, readInOrder(piece, base), hyphen));
  });
}

/** The positions of a line that runs upwards do not tell its order. */
function isTurned(glyphs: readonly PlacedGlyph[]): boolean {
  return glyphs.filter(({ style }) => style.turned).length * 2 > glyphs.length;
}

/** Most letters of the line decide; on a page that is read from right to left, a third of them suffices. */
function baseOf({ codes, from, to, onRightToLeftPage }: LineOfPage): 'rtl' | 'ltr' {
  const { rightToLeft, leftToRight } = countLetters(codes, from, to);
  return rightToLeft * (onRightToLeftPage ? 3 : 1) >= leftToRight ? 'rtl' : 'ltr';
}

/** Counts the letters of both directions among the characters of a page. */
export function countLetters(codes: Int32Array, from: number, to: number) {
  let rightToLeft = 0;
  let leftToRight = 0;
  for (let at = from; at < to; at += 1) {
    const code = codes[at] ?? 0;
    if (isRightToLeft(code)) rightToLeft += 1;
    else if ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || (code >= 0xc0 && code < 0x590))
      leftToRight += 1;
  }
  return { rightToLeft, leftToRight };
}

export function isRightToLeft(code: number): boolean {
  return (code >= 0x590 && code <= 0x8ff) || (code >= 0xfb1d && code <= 0xfdff) || (code >= 0xfe70 && code <= 0xfefc);
}

const mark = /\p{Mn}/u;
/** The most letters that one glyph represents. */
const longestGlyph = 32;

function glyphsOf(probe: TextProbe, { codes, from, to, styles }: LineOfPage): PlacedGlyph[] {
  const glyphs: PlacedGlyph[] = [];
  let marks = '';
  for (let at = from; at < to; at += 1) {
    const code = codes[at] ?? 0;
    if (isSoftHyphen(code)) continue;
    probe.measure(at);
    const [left, right] = [probe.left(), probe.right()];
    styles.move(at);
    const style = styles.current();
    const character = code <= 32 || code === 0xa0 ? ' ' : characterOf(code);
    // PDFium puts marks before their letter.
    if (mark.test(character) && isRightToLeft(codes[at + 1] ?? 0) && at + 1 < to) {
      // It takes the place of a mark for a gap.
      const last = glyphs.at(-1);
      if (last?.text === ' ' && last.right - last.left < 0.01) glyphs.pop();
      marks = character + marks;
      continue;
    }
    const length = isRightToLeft(code) ? glyphLength(probe, { codes, at, to, left }) : 1;
    const text = length === 1 ? character : textOfLigature(codes.subarray(at, at + length));
    glyphs.push({
      text: text + marks,
      left,
      right,
      size: Math.max(style.size, 1),
      baseline: probe.baseline(at),
      style,
    });
    marks = '';
    at += length - 1;
  }
  return glyphs;
}

/** Returns how many letters one glyph represents: they share the same position. */
function glyphLength(
  probe: TextProbe,
  { codes, at, to, left }: { codes: Int32Array; at: number; to: number; left: number },
): number {
  let length = 1;
  while (length < longestGlyph && at + length < to && isRightToLeft(codes[at + length] ?? 0)) {
    probe.measure(at + length);
    if (probe.left() !== left) break;
    length += 1;
  }
  return length;
}

/** PDFium reverses the letters of a ligature, except those of some fonts. In lam with alef, lam is first. */
function textOfLigature(codes: Int32Array): string {
  const letters = Array.from(codes, characterOf);
  return /^\u0644[\u0622\u0623\u0625\u0627]$/.test(letters.join('')) ? letters.join('') : letters.reverse().join('');
}

function byBaseline(glyphs: readonly PlacedGlyph[]): PlacedGlyph[][] {
  const groups: PlacedGlyph[][] = [];
  for (const glyph of glyphs) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const isSame = first !== undefined && Math.abs(first.baseline - glyph.baseline) <= 0.9 * glyph.size;
    if (group !== undefined && isSame) group.push(glyph);
    else groups.push([glyph]);
  }
  return groups;
}

/** Splits a line at wide gaps, from left to right. The glyphs of each piece are in the order of the file. */
function apart(glyphs: readonly PlacedGlyph[]): PlacedGlyph[][] {
  const sorted = [...glyphs].filter(({ text }) => text !== ' ').sort((a, b) => a.left - b.left);
  const gaps: number[] = [];
  let end = sorted[0]?.right ?? 0;
  for (const { left, right, size } of sorted) {
    if (left - end > wideGap * size) gaps.push((left + end) / 2);
    end = Math.max(end, right);
  }
  const pieces: PlacedGlyph[][] = Array.from({ length: gaps.length + 1 }, () => []);
  for (const glyph of glyphs) {
    const index = gaps.findIndex((gap) => glyph.left < gap);
    pieces[index === -1 ? gaps.length : index]?.push(glyph);
  }
  return pieces;
}

function toSegments(glyphs: readonly PlacedGlyph[], read: string, hyphen: boolean): Segment[] {
  const text = withoutLigatures(read);
  if (text.trim() === '') return [];
  const styles = new Map<Style, number>();
  for (const { style } of glyphs) styles.set(style, (styles.get(style) ?? 0) + 1);
  const shown = glyphs.filter((glyph) => glyph.text !== ' ');
  return [
    {
      text,
      left: shown.reduce((least, glyph) => Math.min(least, glyph.left), Number.POSITIVE_INFINITY),
      right: shown.reduce((most, glyph) => Math.max(most, glyph.right), Number.NEGATIVE_INFINITY),
      y: glyphs[0]?.baseline ?? 0,
      ...lookOf(
        [...styles].map(([style, count]) => ({ style, count })),
        glyphs.length,
      ),
      hyphen,
    },
  ];
}
