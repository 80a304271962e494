import { isUtf8 } from 'node:buffer';
import { fileEmpty, undecodable } from '../extraction-error.ts';
import { createDecoder, decodePieces, encodingOfLabel } from './decoders.ts';
import { checkDeclared, guessEncoding, mostReplaced } from './guess-encoding.ts';

export interface FoundEncoding {
  /** A label of the Encoding Standard, or one of `decoders.ts`. */
  readonly encoding: string;
  /** The confidence, from 0 to 1; 1 for a byte order mark and for valid UTF-8. */
  readonly confidence: number;
  /** The length of the byte order mark, which is not part of the text. */
  readonly markBytes: number;
  /** The number of places with damaged bytes, which become U+FFFD. */
  readonly replaced: number;
  readonly warnings: readonly string[];
}

/**
 * Detects the encoding in this order: byte order mark, zero bytes at every second or fourth position, escape sequences,
 * EBCDIC, UTF-8, declared encodings, the likeliest guess. UTF-8 precedes declarations: text in another encoding is
 * rarely valid UTF-8, but declarations are often wrong. Damaged sequences do not exclude an encoding; they count.
 * @throws as `decodeText` does.
 */
export function findEncoding(bytes: Uint8Array, declared: readonly (string | undefined)[] = []): FoundEncoding {
  if (bytes.length === 0) throw fileEmpty();
  const labels = declared.flatMap((label) => (label === undefined ? [] : (encodingOfLabel(label) ?? [])));
  const found = findEvident(bytes, labels[0]) ?? findDeclared(bytes, labels) ?? findLikeliest(bytes);
  if (found === undefined) throw undecodable('no known encoding fits its bytes');
  const numNul = countNul(bytes, found);
  const left = numNul === 0 ? [] : [`nul_characters: NUL characters (U+0000) of the file were left out: ${numNul}.`];
  const warnings = [...found.warnings, ...left];
  if (found.replaced === 0) return { ...found, warnings };
  const damage = `characters_replaced: ${found.replaced} damaged sequences of bytes were replaced by U+FFFD.`;
  return { ...found, confidence: Math.min(found.confidence, damagedConfidence), warnings: [...warnings, damage] };
}

/** Counts the characters U+0000. Readers remove them, because PostgreSQL cannot store them. */
function countNul(bytes: Uint8Array, { encoding, markBytes }: Mark): number {
  const size = encoding.startsWith('utf-16') ? 2 : encoding.startsWith('utf-32') ? 4 : 1;
  let count = 0;
  for (let start = markBytes; start + size <= bytes.length; start += size) {
    let at = start;
    while (at < start + size && bytes[at] === 0) at += 1;
    if (at === start + size) count += 1;
  }
  return count;
}

const damagedConfidence = 0.95;
const declaredConfidence = 0.95;

function findMark(bytes: Uint8Array): Mark | undefined {
  const mark = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const sure = (encoding: string, markBytes: number) => ({ encoding, markBytes });
  if (mark.startsWith('efbbbf')) return sure('utf-8', 3);
  if (mark === 'fffe0000' && bytes.length % 4 === 0) return sure('utf-32le', 4);
  if (mark === '0000feff') return sure('utf-32be', 4);
  if (mark.startsWith('fffe')) return sure('utf-16le', 2);
  if (mark.startsWith('feff')) return sure('utf-16be', 2);
  return undefined;
}

/** Finds encodings that the bytes themselves reveal. */
function findEvident(bytes: Uint8Array, declared: string | undefined): FoundEncoding | undefined {
  const mark = findMark(bytes);
  const marked = mark === undefined ? undefined : fit(bytes, mark);
  if (marked !== undefined) return marked;
  for (const encoding of [...wideEncodings(bytes), ...escapedEncodings(bytes), ...ebcdicEncodings(bytes)]) {
    const found = fit(bytes, { encoding, markBytes: 0 });
    if (found !== undefined && isText(bytes, encoding)) return found;
  }
  if (isBinary(startOf(bytes, 'windows-1252'))) return findWide(bytes);
  return findUtf8(bytes, declared);
}

interface Mark {
  readonly encoding: string;
  readonly markBytes: number;
}

function findUtf8(bytes: Uint8Array, declared: string | undefined): FoundEncoding | undefined {
  const certain = { encoding: 'utf-8', confidence: 1, markBytes: 0, warnings: [] };
  if (isUtf8(bytes)) {
    const isMismatch = declared !== undefined && declared !== 'utf-8' && bytes.some((byte) => byte > 0x7f);
    return { ...certain, replaced: 0, warnings: isMismatch ? [mismatch(declared, 'utf-8')] : [] };
  }
  const { replaced, beyondAscii } = countDamage(bytes, certain);
  return beyondAscii >= 4 * replaced ? { ...certain, replaced } : undefined;
}

function mismatch(declared: string, used: string): string {
  return `charset_mismatch: The document declares the encoding ${declared}, but its text is ${used}.`;
}

/** UTF-16 of letters without zero bytes, such as Chinese ones, contains many bytes of control characters. */
function findWide(bytes: Uint8Array): FoundEncoding {
  const wide = guessEncoding(bytes).find(({ encoding }) => encoding.startsWith('utf-16'));
  const found = wide && fit(bytes, { encoding: wide.encoding, markBytes: 0 });
  if (wide === undefined || found === undefined || !isText(bytes, wide.encoding)) {
    throw undecodable('it holds control characters, as binary data does');
  }
  // A single-byte encoding may be likelier, but its text would contain control characters.
  const isDoubtful = wide.isUncertain || wide.confidence < uncertainConfidence;
  return { ...found, confidence: wide.confidence, warnings: isDoubtful ? [uncertain(wide.encoding)] : [] };
}

/** A declared encoding wins, unless it does not fit or another one is much likelier. */
function findDeclared(bytes: Uint8Array, declared: readonly string[]): FoundEncoding | undefined {
  for (const encoding of declared) {
    const found = fit(bytes, { encoding, markBytes: 0 });
    if (found === undefined || !isText(bytes, encoding)) continue;
    const check = checkDeclared(bytes, encoding);
    if (check === 'plausible') return { ...found, confidence: declaredConfidence };
    const guess = check === 'refuted' ? findLikeliest(bytes) : undefined;
    if (guess === undefined) return { ...found, confidence: uncertainConfidence, warnings: [uncertain(encoding)] };
    return { ...guess, warnings: [mismatch(encoding, guess.encoding), ...guess.warnings] };
  }
  return undefined;
}

const uncertainConfidence = 0.4;

function uncertain(encoding: string): string {
  return `encoding_uncertain: The encoding may not be ${encoding}. Compare the text with the file, or save the file as UTF-8.`;
}

/** Each guess reads the whole file, so only the likeliest are tried. */
const mostTried = 3;

function findLikeliest(bytes: Uint8Array): FoundEncoding | undefined {
  for (const { encoding, confidence, isUncertain } of guessEncoding(bytes).slice(0, mostTried)) {
    const found = fit(bytes, { encoding, markBytes: 0 });
    if (found === undefined || !isText(bytes, encoding)) continue;
    return { ...found, confidence, warnings: isUncertain ? [uncertain(encoding)] : [] };
  }
  return undefined;
}

/** Returns the encoding with its damage; undefined when too much of the file is invalid in it. */
function fit(bytes: Uint8Array, mark: Mark): FoundEncoding | undefined {
  if (createDecoder(mark.encoding) === undefined) return undefined;
  const { replaced, characters, beyondAscii } = countDamage(bytes, mark);
  // In ASCII-compatible encodings only characters beyond ASCII can be damaged, or tell that the encoding is right.
  const whole = mark.markBytes > 0 || /^utf-(?:16|32)/.test(mark.encoding) ? characters : beyondAscii;
  if (replaced > Math.min(whole, mostReplaced(whole))) return undefined;
  return { ...mark, confidence: 1, replaced, warnings: [] };
}

interface Damage {
  readonly replaced: number;
  readonly characters: number;
  readonly beyondAscii: number;
}

function countDamage(bytes: Uint8Array, mark: Mark): Damage {
  let replaced = 0;
  let characters = 0;
  let beyondAscii = 0;
  let previous = 0;
  for (const piece of decodePieces(bytes, mark)) {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code !== 0xfffd) characters += 1;
      else if (previous !== 0xfffd) replaced += 1;
      if (code !== 0xfffd && code > 0x7f) beyondAscii += 1;
      previous = code;
    }
  }
  return { replaced, characters, beyondAscii };
}

const sampleBytes = 4096;

function startOf(bytes: Uint8Array, encoding: string): string {
  return createDecoder(encoding)?.decode(bytes.subarray(0, sampleBytes), { stream: true }) ?? '';
}

function isText(bytes: Uint8Array, encoding: string): boolean {
  return !isBinary(startOf(bytes, encoding));
}

/** In EBCDIC the blank is 0x40, and the blank and the line end of ASCII are control characters. */
function ebcdicEncodings(bytes: Uint8Array): string[] {
  const sample = bytes.subarray(0, sampleBytes);
  let blanks = 0;
  let asciiBlanks = 0;
  for (const byte of sample) {
    if (byte === 0x40) blanks += 1;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d) asciiBlanks += 1;
  }
  return blanks >= sample.length * 0.08 && asciiBlanks < sample.length * 0.005 ? ['ibm500'] : [];
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
  if (/\x1b\$[@B]/.test(text)) return ['iso-2022-jp'];
  return /~\{(?:[!-w][!-~]){2,}~\}/.test(text) ? ['hz-gb-2312'] : []; // bounded: at most 4 KiB
}

/** Text contains almost no control characters except blanks, line ends, form feeds and escapes. */
function isBinary(text: string): boolean {
  const controls = text.match(/[\0-\x08\x10-\x1a\x1c-\x1f]/g)?.length ?? 0;
  return controls > text.length / 20;
}
