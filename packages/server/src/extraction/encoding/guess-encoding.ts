import { analyse } from 'chardet';
import { createDecoder } from './code-pages.ts';
import { unlikelihood } from './text-likelihood.ts';

export interface EncodingGuess {
  readonly encoding: string;
  /** The confidence, from 0 to 1. */
  readonly confidence: number;
}

/**
 * Candidate encodings with an initial cost: rarer encodings cost more. If two give the same text, the first is
 * reported.
 */
const candidates: ReadonlyArray<readonly [encoding: string, cost: number]> = [
  ['windows-1252', 0],
  ['gb18030', 0],
  ['shift_jis', 0],
  ['windows-1251', 0],
  ['windows-1250', 0.5],
  ['big5', 0.5],
  ['euc-kr', 0.5],
  ['euc-jp', 0.5],
  ['windows-1254', 1],
  ['windows-1253', 1],
  ['windows-1255', 1],
  ['windows-1256', 1],
  ['windows-1257', 1],
  ['windows-874', 1],
  ['koi8-r', 1],
  ['iso-8859-2', 1.5],
  ['iso-8859-15', 1.5],
  ['utf-16le', 2],
  ['utf-16be', 2],
  ['iso-8859-5', 2],
  ['iso-8859-6', 2],
  ['iso-8859-7', 2],
  ['iso-8859-8', 2],
  ['windows-1258', 2],
  ['koi8-u', 2],
  ['ibm866', 2],
  ['macintosh', 5],
  ['x-mac-cyrillic', 3],
  ['x-mac-ce', 3],
  ['ibm850', 3],
  ['ibm852', 3],
  ['ibm437', 4],
  ['ibm855', 4],
  ['iso-8859-13', 3],
  ['iso-8859-3', 3],
  ['iso-8859-4', 3],
  ['iso-8859-10', 3.5],
  ['iso-8859-14', 3.5],
  ['iso-8859-16', 3.5],
];

/** The maximum number of sampled bytes, from lines that are not all ASCII. */
const sampleBytes = 256 * 1024;

/** Returns the encodings that fit a sample of the bytes, the likeliest first. ASCII bytes fit all encodings. */
export function guessEncoding(bytes: Uint8Array): EncodingGuess[] {
  const sample = tellingLines(bytes);
  const votes = new Map(analyse(sample).map(({ name, confidence }) => [name.toLowerCase(), confidence / 100]));
  const scored = candidates.flatMap(([encoding, cost]) => {
    const text = encoding.startsWith('utf-16') ? decodeWide(bytes, encoding) : decode(sample, encoding);
    if (text === undefined) return [];
    const score = cost + unlikelihood(text) - voteWeight * (votes.get(encoding) ?? 0);
    return [{ encoding, text, score }];
  });
  scored.sort((a, b) => a.score - b.score);
  return scored.map(({ encoding, text, score }) => {
    const rival = scored.find((other) => other.encoding !== encoding && other.text !== text);
    return { encoding, confidence: confidence((rival?.score ?? score + 50) - score) };
  });
}

/** The vote of the second detector counts as much as two matching letters. */
const voteWeight = 4;

function confidence(margin: number): number {
  return Math.round(100 / (1 + Math.exp(-margin / 4))) / 100;
}

function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return createDecoder(encoding)?.decode(bytes, { stream: false });
  } catch {
    return undefined;
  }
}

function decodeWide(bytes: Uint8Array, encoding: string): string | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  return decode(bytes.subarray(0, sampleBytes), encoding);
}

/** Returns whole lines with a byte beyond ASCII, up to the limit. The other lines do not reveal the encoding. */
function tellingLines(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= sampleBytes) return bytes;
  const pieces: Uint8Array[] = [];
  let held = 0;
  let start = 0;
  let distinguishes = false;
  for (let at = 0; at < bytes.length && held < sampleBytes; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > 0x7f) distinguishes = true;
    if (byte !== 0x0a && at !== bytes.length - 1) continue;
    if (distinguishes) {
      pieces.push(bytes.subarray(start, at + 1));
      held += at + 1 - start;
    }
    start = at + 1;
    distinguishes = false;
  }
  return Buffer.concat(pieces);
}
