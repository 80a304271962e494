import { createDecoder } from './decoders.ts';
import { unlikelihood } from './text-likelihood.ts';

export interface EncodingGuess {
  readonly encoding: string;
  /** The confidence, from 0 to 1. */
  readonly confidence: number;
  /** How unlikely the sample is in this encoding; lower is likelier. */
  readonly cost: number;
  /** Whether the text reads unlike every known language, or as well in another encoding. */
  readonly isUncertain: boolean;
}

/*
 * The encoding of bytes without a mark or declaration is the one in which they read most like a language. General detectors
 * know fewer encodings and need more text: chardet reads 54 of 74 texts of the corpus, these statistics read all.
 */

/**
 * Candidate encodings with an initial cost: rarer encodings cost more. If two give the same text, the first is
 * reported.
 */
const candidates = Object.entries({
  '0': 'windows-1252 gb18030 shift_jis windows-1251',
  '0.5': 'windows-1250 big5 euc-kr euc-jp',
  '1': 'windows-1254 windows-1253 windows-1255 windows-1256 windows-1257 windows-874 koi8-r',
  '1.5': 'iso-8859-2 iso-8859-15 kz-1048',
  '2': 'tcvn utf-16le utf-16be iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 windows-1258 koi8-u ibm866',
  '5': 'macintosh',
  '3': 'viscii ptcp154 koi8-t x-mac-cyrillic x-mac-ce ibm850 ibm852 iso-8859-13 iso-8859-3 iso-8859-4',
  '4': 'ibm437 ibm855',
  '3.5': 'iso-8859-10 iso-8859-14 iso-8859-16',
}).flatMap(([cost, names]) => names.split(' ').map((name) => [name, Number(cost)] as const));

/** The maximum number of sampled bytes, from lines that are not all ASCII. */
const sampleBytes = 256 * 1024;

/** The cost of an invalid sequence. It is below the cost of a foreign letter, so damage alone excludes no encoding. */
const damageCost = 8;

/** Right texts cost 7 for each character beyond ASCII in the median, and at most 11, and up to 24 for their language. */
function isImplausible({ cost, beyondAscii }: { cost: number; beyondAscii: number }): boolean {
  return cost > 12 * (beyondAscii + 2);
}

interface Scored {
  readonly encoding: string;
  readonly text: string;
  readonly cost: number;
  readonly beyondAscii: number;
  readonly replaced: number;
}

/** Returns the encodings in the order of their likelihood in a sample of the bytes, the likeliest first. */
export function guessEncoding(bytes: Uint8Array, limit = sampleBytes): EncodingGuess[] {
  const sample = tellingLines(bytes, limit);
  const scored = candidates.flatMap(([encoding, prior]) => {
    const text = encoding.startsWith('utf-16') ? decodeWide(bytes, { encoding, limit }) : decode(sample, encoding);
    if (text === undefined) return [];
    const found = { encoding, text, ...scoreText(text) };
    if (found.replaced > mostReplaced(found.beyondAscii)) return [];
    return [{ ...found, cost: prior + found.cost }];
  });
  scored.sort((a, b) => a.cost - b.cost);
  return scored.map((one) => ({ encoding: one.encoding, cost: one.cost, ...judge(one, scored) }));
}

/** The number of invalid sequences up to which bytes count as damaged text in an encoding, not as another encoding. */
export function mostReplaced(beyondAscii: number): number {
  return Math.max(2, beyondAscii / 50);
}

/** A declaration is checked with less text, because most declarations are right. */
const checkedBytes = 16 * 1024;
/** A guess must be so much likelier than the declared encoding, in sum and in proportion. */
const clearAdvantage = { cost: 40, factor: 1.3 };

/** Compares a declared encoding with the likeliest one. */
export function checkDeclared(bytes: Uint8Array, encoding: string): 'plausible' | 'implausible' | 'refuted' {
  const score = scoreText(decode(tellingLines(bytes, checkedBytes), encoding) ?? '');
  const [best] = guessEncoding(bytes, checkedBytes);
  const { cost, factor } = clearAdvantage;
  if (best !== undefined && score.cost > best.cost + cost && score.cost > best.cost * factor) return 'refuted';
  return isImplausible(score) ? 'implausible' : 'plausible';
}

function scoreText(text: string): { cost: number; beyondAscii: number; replaced: number } {
  // One damaged byte can make its neighbours invalid too.
  const parts = text.split(/\ufffd+/);
  const clean = parts.join('');
  const replaced = parts.length - 1;
  return { cost: unlikelihood(clean) + damageCost * replaced, beyondAscii: countBeyondAscii(clean), replaced };
}

function countBeyondAscii(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) count += 1;
  return count;
}

/** Bytes never prove a guess: they may be of an encoding that is not a candidate. */
const guessedConfidence = 0.95;
const fewCharacters = 8;
const closeCost = 2;

/** The confidence follows from the distance to the likeliest other text, and each reason for doubt limits it. */
function judge(one: Scored, scored: readonly Scored[]): { confidence: number; isUncertain: boolean } {
  const rival = scored.find((other) => other.encoding !== one.encoding && other.text !== one.text);
  const margin = (rival?.cost ?? one.cost + 50) - one.cost;
  const isForeign = isImplausible(one);
  const isClose = Math.abs(margin) < closeCost;
  const limits = [
    guessedConfidence,
    1 / (1 + Math.exp(-margin / 4)),
    isForeign ? 0.4 : 1,
    one.replaced > 0 ? 0.95 : 1,
    one.beyondAscii < fewCharacters ? 0.8 : 1,
    isClose ? 0.6 : 1,
  ];
  const confidence = Math.round(100 * Math.min(...limits)) / 100;
  return { confidence, isUncertain: isForeign || isClose };
}

function decode(bytes: Uint8Array, encoding: string): string | undefined {
  return createDecoder(encoding)?.decode(bytes, { stream: false });
}

function decodeWide(
  bytes: Uint8Array,
  { encoding, limit }: { readonly encoding: string; readonly limit: number },
): string | undefined {
  return bytes.length % 2 === 0 ? decode(bytes.subarray(0, limit), encoding) : undefined;
}

/**
 * Returns whole lines with a byte beyond ASCII, up to the limit. The other lines do not reveal the encoding. Only the
 * last line can be cut, and only if it is longer than the rest of the sample.
 */
function tellingLines(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.length <= limit) return bytes;
  const pieces: Uint8Array[] = [];
  let held = 0;
  let start = 0;
  let distinguishes = false;
  for (let at = 0; at < bytes.length && held < limit; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x7f) distinguishes = true;
    const isFull = distinguishes && held + at + 1 - start >= limit;
    if (byte !== 0x0a && at !== bytes.length - 1 && !isFull) continue;
    if (distinguishes) {
      pieces.push(bytes.subarray(start, at + 1));
      held += at + 1 - start;
    }
    start = at + 1;
    distinguishes = false;
  }
  return Buffer.concat(pieces);
}
