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
  let fonts: ReturnType<typeof findFonts> | undefined;
  return (font, code) => {
    fonts ??= findFonts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    // Parts of one font may have other numbers for the same glyph.
    const [letters, ...others] = new Set(fonts.get(font)?.flatMap((encoding) => encoding.get(code) ?? []));
    return others.length === 0 ? letters : undefined;
  };
}

/** Returns the encodings of each font. */
function findFonts(file: Buffer): Map<string, ReadonlyMap<number, string>[]> {
  const encodings = new Map<string, Map<number, string>>();
  const named: [string, string][] = [];
  let left = limits.all;
  for (const [id, text] of objectsOf(file)) {
    left -= text.length;
    if (left < 0 || named.length === limits.fonts) break;
    const hasOwn = text.includes('/Differences');
    if (hasOwn) encodings.set(id, readDifferences(text));
    const font = /\/BaseFont\s*\/([^\s/<>[\]()]+)/.exec(text)?.[1];
    const encoding = hasOwn ? id : /\/Encoding\s+([0-9]+)\s+[0-9]+\s+R/.exec(text)?.[1];
    if (font !== undefined && encoding !== undefined) named.push([font, encoding]);
  }
  const byFont = Map.groupBy(named, ([font]) => font);
  return new Map([...byFont].map(([font, of]) => [font, of.flatMap(([, id]) => encodings.get(id) ?? [])]));
}

/** Finds the numbers of the objects of a file, also of those in compressed streams, and their texts without their streams. */
function* objectsOf(file: Buffer): Generator<readonly [string, string]> {
  for (let at = file.indexOf(' obj'), next = at, streams = 0; at !== -1; at = next) {
    next = file.indexOf(' obj', at + 4);
    // bounded: at most 20 characters (the end of the text before it)
    const id = /([0-9]+) [0-9]+$/.exec(file.toString('latin1', Math.max(0, at - 20), at))?.[1] ?? '';
    const head = file.toString('latin1', at + 4, Math.min(at + limits.object, next === -1 ? file.length : next));
    const stream = head.search(/stream\r?\n/);
    const text = stream === -1 ? head : head.slice(0, stream);
    yield [id, text];
    if (stream === -1 || !text.includes('/ObjStm') || streams === limits.streams) continue;
    streams += 1;
    yield* objectsIn(file.subarray(file.indexOf('\n', at + 4 + stream) + 1), text);
  }
}

function* objectsIn(packed: Buffer, head: string): Generator<readonly [string, string]> {
  const first = Number(/\/First\s+([0-9]+)/.exec(head)?.[1]);
  const content = inflated(packed);
  const numbers = content.slice(0, first).trim().split(/\s+/).map(Number);
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    const [start = 0, end = content.length] = [numbers[at + 1], numbers[at + 3]];
    yield [String(numbers[at]), content.slice(first + start, first + Math.min(end, start + limits.object))];
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
function readDifferences(text: string): Map<number, string> {
  const found = new Map<number, string>();
  const from = text.indexOf('[', text.indexOf('/Differences'));
  let code = 0;
  for (const [, name, number] of text.slice(from, text.indexOf(']', from)).matchAll(/\/([^\s/]+)|([0-9]+)/g)) {
    const letters = name === undefined ? undefined : lettersOf(name);
    if (letters !== undefined && code <= limits.code) found.set(code, letters);
    code = name === undefined ? Number(number) : code + 1;
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
    return units?.map((unit) => String.fromCodePoint(Math.min(Number.parseInt(unit, 16), 0x10ffff))).join('') ?? '\0';
  });
  const text = letters.join('');
  return /^\P{C}+$/u.test(text) ? text : undefined;
}
