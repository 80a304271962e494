/**
 * The maximum tokens of a chunk of Latin text when neither the record nor the collection names a size.
 * Source: docs/contract.md "Collections, records, chunks".
 */
export const defaultChunkSize = 400;

/**
 * The maximum tokens of a chunk by script. The tokenizer was made for English, so the same text takes up to seven
 * times as many tokens in other scripts. The size grows with the square root of that factor, of at most 2.5. Source: ADR 0156.
 */
const scripts: ReadonlyArray<{ readonly letters: RegExp; readonly size: number }> = [
  { letters: /\p{Script=Latin}/gu, size: defaultChunkSize },
  { letters: /\p{Script=Han}/gu, size: 440 },
  { letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, size: 570 },
  { letters: /\p{Script=Hangul}/gu, size: 510 },
  { letters: /\p{Script=Cyrillic}/gu, size: 530 },
  { letters: /\p{Script=Arabic}/gu, size: 570 },
  { letters: /\p{Script=Hebrew}/gu, size: 620 },
];
/** That of other scripts, such as Greek, Devanagari and Thai. */
const otherSize = 640;

/** Latin letters, digits and punctuation. */
const onlyLatin = /^[\0-\u024f\u2000-\u206f]*$/;

/** The scripts of a long text are counted in this number of samples, spread evenly over it. */
const samples = 40;
const sampleLength = 500;

/** Returns the maximum tokens of a chunk for a text: the mean of the sizes of its letters. */
export function chunkSizeOf(text: string): number {
  const sample = sampleOf(text);
  if (onlyLatin.test(sample)) return defaultChunkSize;
  const letters = countMatches(sample, /\p{L}/gu);
  if (letters === 0) return defaultChunkSize;
  let known = 0;
  let sum = 0;
  for (const { letters: pattern, size } of scripts) {
    const count = countMatches(sample, pattern);
    known += count;
    sum += count * size;
  }
  // Some signs of a script, such as the vowels of Arabic, are not letters.
  const others = Math.max(0, letters - known);
  return Math.round((sum + others * otherSize) / (known + others));
}

function sampleOf(text: string): string {
  if (text.length <= samples * sampleLength) return text;
  const step = text.length / samples;
  return Array.from({ length: samples }, (_, index) => {
    const from = Math.floor(index * step);
    return text.slice(from, from + sampleLength);
  }).join(' ');
}

function countMatches(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count += 1;
  return count;
}
