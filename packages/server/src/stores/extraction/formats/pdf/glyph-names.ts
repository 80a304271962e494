import { inflateSync } from 'node:zlib';

/** Returns the letters of a character code of a font whose glyph has a composed name, such as f_i; undefined when there is none. */
export type GlyphNames = (font: string, code: number) => string | undefined;

/** `all` is the number of characters of objects that are read at most. */
const limits = { fonts: 10_000, code: 255, object: 65_536, streams: 1_000, inflated: 2 ** 20, all: 2 ** 26 };

/**
 * PDFium reads the names of the Adobe Glyph List, but not names that are composed of them. The fonts of the file are searched at the first
 * question, because few files have such names.
 */
export function createGlyphNames(bytes: Uint8Array): GlyphNames {
  let fonts: ReadonlyMap<string, ReadonlyMap<number, string>> | undefined;
  return (font, code) => {
    fonts ??= findFonts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return fonts.get(font)?.get(code);
  };
}

function findFonts(file: Buffer): Map<string, Map<number, string>> {
  const encodings = new Map<string, Map<number, string>>();
  const named: { font: string; encoding: string }[] = [];
  let left = limits.all;
  for (const { id, text } of objectsOf(file)) {
    left -= text.length;
    if (left < 0 || named.length === limits.fonts) break;
    const differences = readDifferences(text);
    if (differences !== undefined) encodings.set(id, differences);
    const font = /\/BaseFont\s*\/([^\s/<>[\]()]+)/.exec(text)?.[1];
    const encoding = differences === undefined ? /\/Encoding\s+([0-9]+)\s+[0-9]+\s+R/.exec(text)?.[1] : id;
    if (font !== undefined && encoding !== undefined) named.push({ font: withoutEscapes(font), encoding });
  }
  const fonts = new Map<string, Map<number, string>>();
  for (const { font, encoding } of named) {
    const known = fonts.get(font);
    const next = encodings.get(encoding) ?? new Map<number, string>();
    if (known === undefined) fonts.set(font, new Map(next));
    // Parts of one font may have other numbers for the same glyph.
    else for (const [code, letters] of next) known.set(code, (known.get(code) ?? letters) === letters ? letters : '');
  }
  return fonts;
}

interface PdfObject {
  readonly id: string;
  /** The beginning of the object, without its stream. */
  readonly text: string;
}

/** Finds the objects of a file, also those in compressed streams. */
function* objectsOf(file: Buffer): Generator<PdfObject> {
  let streams = 0;
  let at = file.indexOf(' obj');
  while (at !== -1) {
    const id = file
      .toString('latin1', Math.max(0, at - 20), at)
      .split(/\s/)
      .at(-2);
    const next = file.indexOf(' obj', at + 4);
    const head = file.toString('latin1', at + 4, Math.min(at + limits.object, next === -1 ? file.length : next));
    const stream = head.indexOf('stream');
    const text = stream === -1 ? head : head.slice(0, stream);
    if (id !== undefined) yield { id, text };
    if (stream !== -1 && text.includes('/ObjStm') && streams < limits.streams) {
      streams += 1;
      yield* objectsIn(file.subarray(at + 4 + stream + (head.startsWith('\r\n', stream + 6) ? 8 : 7)), text);
    }
    at = next;
  }
}

function* objectsIn(packed: Buffer, head: string): Generator<PdfObject> {
  const first = Number(/\/First\s+([0-9]+)/.exec(head)?.[1]);
  const content = inflated(packed);
  const numbers = content.slice(0, first).trim().split(/\s+/).map(Number);
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const [start = 0, end = content.length] = [numbers[at + 1], numbers[at + 3]];
    const length = Math.min(first + end, first + start + limits.object);
    yield { id: String(numbers[at]), text: content.slice(first + start, length) };
  }
}

/** Empty when the stream is encrypted, damaged or too large. */
function inflated(packed: Buffer): string {
  try {
    return inflateSync(packed, { maxOutputLength: limits.inflated }).toString('latin1');
  } catch {
    return '';
  }
}

/** Returns the composed names of an encoding: "[27 /f_f /f_i 65 /A]" numbers glyphs from 27 on. */
function readDifferences(text: string): Map<number, string> | undefined {
  const at = text.indexOf('/Differences');
  if (at === -1) return undefined;
  const [open, close] = [text.indexOf('[', at), text.indexOf(']', at)];
  const found = new Map<number, string>();
  let code = 0;
  for (const token of text
    .slice(open + 1, Math.max(open, close))
    .replaceAll('/', ' /')
    .split(/\s+/)) {
    if (token.startsWith('/')) {
      const letters = lettersOf(withoutEscapes(token.slice(1)));
      if (letters !== undefined && code <= limits.code) found.set(code, letters);
      code += 1;
    } else if (token !== '') code = Number(token);
  }
  return found;
}

/**
 * Returns the letters of a composed name, by the rules of the Adobe Glyph List: what follows a full stop does not count, "_" joins parts,
 * and "uni" and "u" begin hexadecimal numbers.
 */
export function lettersOf(name: string): string | undefined {
  const [base = ''] = name.split('.', 1);
  const letters = base.split('_').map((part) => {
    if (/^[A-Za-z]$/.test(part)) return part;
    const isOfUnits = /^uni(?:[0-9A-F]{4})+$/.test(part);
    const units = isOfUnits ? part.slice(3).match(/.{4}/g) : /^u([0-9A-F]{4,6})$/.exec(part)?.slice(1);
    return units?.map((unit) => String.fromCodePoint(Math.min(Number.parseInt(unit, 16), lastCode))).join('') ?? '\0';
  });
  const text = letters.join('');
  return /^\P{C}+$/u.test(text) ? text : undefined;
}
const lastCode = 0x10ffff;

function withoutEscapes(name: string): string {
  return name.replace(/#([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
