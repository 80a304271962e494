import { isUtf8 } from 'node:buffer';
import { fileEmpty, undecodable } from '../extraction-error.ts';
import { createDecoder } from './code-pages.ts';
import { guessEncoding } from './guess-encoding.ts';

export interface FoundEncoding {
  /** A label of the Encoding Standard, or one of `code-pages.ts`. */
  readonly encoding: string;
  /** The confidence, from 0 to 1; 1 for a byte order mark and for valid UTF-8. */
  readonly confidence: number;
  /** The length of the byte order mark, which is not part of the text. */
  readonly markBytes: number;
}

export interface DecodedText {
  /** Without a byte order mark; line ends are `\n`. */
  readonly text: string;
  readonly encoding: string;
  readonly confidence: number;
}

/**
 * Decodes without losing a character.
 * @throws ExtractionError `undecodable` when no encoding fits all bytes, `file_empty` when there are none.
 */
export function decodeText(bytes: Uint8Array, declared: readonly (string | undefined)[] = []): DecodedText {
  const { encoding, confidence, markBytes } = findEncoding(bytes, declared);
  // It was decoded completely before, so it cannot fail now.
  const text = createDecoder(encoding)?.decode(bytes.subarray(markBytes), { stream: false }) ?? '';
  return { text: text.replace(/\r\n?/g, '\n'), encoding, confidence };
}

/** Decodes in pieces, so that a long text is never held as a whole. Line ends stay unchanged. */
export function* decodePieces(bytes: Uint8Array, { encoding, markBytes }: FoundEncoding): Generator<string> {
  const decoder = createDecoder(encoding);
  for (let at = markBytes; at < bytes.length; at += pieceBytes) {
    const stream = at + pieceBytes < bytes.length;
    yield decoder?.decode(bytes.subarray(at, at + pieceBytes), { stream }) ?? '';
  }
}

/**
 * Detects the encoding in this order: byte order mark, zero bytes at every second or fourth position, escape sequences,
 * UTF-8, declared encodings, the likeliest guess. UTF-8 precedes declarations: text in another encoding is rarely valid
 * UTF-8, but declarations are often wrong.
 * @throws as `decodeText` does.
 */
export function findEncoding(bytes: Uint8Array, declared: readonly (string | undefined)[] = []): FoundEncoding {
  if (bytes.length === 0) throw fileEmpty();
  const marked = findMark(bytes);
  if (marked !== undefined && fits(bytes.subarray(marked.markBytes), marked.encoding)) return marked;
  const found = marked === undefined ? findUnmarked(bytes, declared) : undefined;
  if (found === undefined) throw undecodable('no known encoding fits all its bytes');
  if (found === 'nearly UTF-8') throw undecodable(`it is UTF-8, but broken at byte ${brokenAt(bytes)}`);
  if (found === 'binary') throw undecodable('it holds control characters, as binary data does');
  return found;
}

function findMark(bytes: Uint8Array): FoundEncoding | undefined {
  const mark = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const sure = (encoding: string, markBytes: number) => ({ encoding, confidence: 1, markBytes });
  if (mark.startsWith('efbbbf')) return sure('utf-8', 3);
  if (mark === 'fffe0000' && bytes.length % 4 === 0) return sure('utf-32le', 4);
  if (mark === '0000feff') return sure('utf-32be', 4);
  if (mark.startsWith('fffe')) return sure('utf-16le', 2);
  if (mark.startsWith('feff')) return sure('utf-16be', 2);
  return undefined;
}

const declaredConfidence = 0.95;

function findUnmarked(
  bytes: Uint8Array,
  declared: readonly (string | undefined)[],
): FoundEncoding | 'binary' | 'nearly UTF-8' | undefined {
  const candidates = [...wideEncodings(bytes), ...escapedEncodings(bytes), 'utf-8'];
  const sure = candidates.find((encoding) => fitsAsText(bytes, encoding));
  if (sure !== undefined) return { encoding: sure, confidence: 1, markBytes: 0 };
  if (isBinary(Buffer.from(bytes.subarray(0, sampleBytes)).toString('latin1'))) {
    const wide = guessEncoding(bytes).find(({ encoding }) => encoding.startsWith('utf-16'));
    return wide !== undefined && fitsAsText(bytes, wide.encoding) ? { ...wide, markBytes: 0 } : 'binary';
  }
  for (const label of declared) {
    const encoding = label === undefined ? undefined : normalise(label);
    if (encoding !== undefined && fitsAsText(bytes, encoding)) {
      return { encoding, confidence: declaredConfidence, markBytes: 0 };
    }
  }
  if (isNearlyUtf8(bytes)) return 'nearly UTF-8';
  const guess = guessEncoding(bytes).find(({ encoding }) => fitsAsText(bytes, encoding));
  return guess && { ...guess, markBytes: 0 };
}

/** Returns the name of the Encoding Standard for a label; undefined for an unknown label. */
function normalise(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/**
 * Mostly valid UTF-8 is truncated or damaged UTF-8, because other encodings rarely look like it. A guess would corrupt
 * it.
 */
function isNearlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, damageBytes));
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  const whole = text.match(/[^\0-\u007f\ufffd]/g)?.length ?? 0;
  return whole >= 5 && whole >= 10 * broken;
}

function brokenAt(bytes: Uint8Array): number {
  const text = new TextDecoder().decode(bytes.subarray(0, damageBytes));
  const at = text.indexOf('\ufffd');
  return at === -1 ? damageBytes : Buffer.byteLength(text.slice(0, at));
}

const damageBytes = 4 * 1024 * 1024;
const pieceBytes = 1024 * 1024;
const sampleBytes = 4096;

/** Whether all bytes are valid in the encoding. */
function fits(bytes: Uint8Array, encoding: string): boolean {
  // This check creates no string.
  if (encoding === 'utf-8') return isUtf8(bytes);
  try {
    for (const _ of decodePieces(bytes, { encoding, confidence: 1, markBytes: 0 }));
    return createDecoder(encoding) !== undefined;
  } catch {
    return false;
  }
}

function fitsAsText(bytes: Uint8Array, encoding: string): boolean {
  if (!fits(bytes, encoding)) return false;
  const sample = createDecoder(encoding)?.decode(bytes.subarray(0, sampleBytes), { stream: true }) ?? '';
  return !isBinary(sample);
}

/** Text in UTF-16 or UTF-32 without a mark has zero bytes at every second position, or at three of four. */
function wideEncodings(bytes: Uint8Array): string[] {
  const sample = bytes.subarray(0, sampleBytes);
  const zeros = [0, 0, 0, 0];
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 4] = (zeros[index % 4] ?? 0) + 1;
  const [a = 0, b = 0, c = 0, d = 0] = zeros.map((count) => (count * 4) / sample.length);
  const many = 0.4;
  const nearlyAll = 0.98;
  if (a > nearlyAll && b > many && d < 0.1) return ['utf-32be'];
  if (d > nearlyAll && c > many && a < 0.1) return ['utf-32le'];
  if (b > many && d > many && a + c < 0.2) return ['utf-16le'];
  if (a > many && c > many && b + d < 0.2) return ['utf-16be'];
  return [];
}

/** These encodings use ASCII bytes only, so they would pass as UTF-8. Their escape sequences identify them. */
function escapedEncodings(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.subarray(0, sampleBytes)).toString('latin1');
  if (/\x1b\$\)C/.test(text)) return ['iso-2022-kr'];
  return /\x1b\$[@B]/.test(text) ? ['iso-2022-jp'] : [];
}

/** Text contains almost no control characters except blanks, line ends, form feeds and escapes. */
function isBinary(text: string): boolean {
  const controls = text.match(/[\0-\x08\x10-\x1a\x1c-\x1f]/g)?.length ?? 0;
  return controls > text.length / 20;
}
