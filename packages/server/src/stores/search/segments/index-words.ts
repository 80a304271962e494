import { frequencySeparator } from '../analysis/tokenizer.ts';
import type { ChunkTerms } from './build-segment.ts';
import { mostLength, mostRepeats } from './segment-format.ts';

/** The code units that are kept of one word. Real words are shorter. */
export const longestWord = 128;

/** Makes words well-formed Unicode, removes NUL and truncates them, as in the index. Empty results are dropped. */
export function normaliseWords(words: readonly string[]): string[] {
  return words.every(isNormal) ? [...words] : words.map(normalise).filter((word) => word !== '');
}

/** Normalises the folded words of a question; null when it has none. */
export function normaliseFolded({ folded }: { readonly folded?: readonly string[] | undefined }): string[] | null {
  return folded === undefined ? null : [...new Set(normaliseWords(folded))];
}

const plain = /^[a-z0-9]+$/;

function isNormal(word: string): boolean {
  if (plain.test(word)) return word.length <= longestWord;
  return word !== '' && word.length <= longestWord && word.isWellFormed() && !word.includes('\0');
}

function normalise(word: string): string {
  return word.slice(0, longestWord).toWellFormed().replaceAll('\0', '');
}

/** Parses the `words` of a chunk: words separated by spaces, each followed by its frequency unless that is 1. */
export function readWords(words: string): Pick<ChunkTerms, 'terms' | 'length'> {
  const terms = new Map<string, number>();
  let length = 0;
  const isClean = words.isWellFormed() && !words.includes('\0');
  for (let from = 0; from < words.length; ) {
    const space = words.indexOf(' ', from);
    const part = words.slice(from, space < 0 ? words.length : space);
    from += part.length + 1;
    const mark = part.lastIndexOf(frequencySeparator);
    const times = mark > 0 ? readFrequency(part, mark + 1) : 0;
    const word = times === 0 ? part : part.slice(0, mark);
    const normal = isClean && word.length <= longestWord ? word : normalise(word);
    if (normal === '') continue;
    length += Math.max(times, 1);
    terms.set(normal, Math.min((terms.get(normal) ?? 0) + Math.max(times, 1), mostRepeats));
  }
  return { terms, length: Math.min(length, mostLength) };
}

const zero = '0'.charCodeAt(0);
const mostDigits = 9;

/** Reads the whole number from 1 on that ends the text. Returns 0 when there is none. */
function readFrequency(text: string, from: number): number {
  if (text.length - from > mostDigits) return 0;
  let number = 0;
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9 || (digit === 0 && at === from)) return 0;
    number = number * 10 + digit;
  }
  return number;
}
