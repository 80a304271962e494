import { readFileSync } from 'node:fs';
import { cutWords } from './words.ts';

const folder = new URL('../../../../../shared/corpus/', import.meta.url);

/** The bytes of a file of the test corpus. */
export function corpusFile(path: string): Buffer {
  return readFileSync(new URL(path.split('/').map(encodeURIComponent).join('/'), folder));
}

export interface CorpusEntry {
  readonly path: string;
  readonly kind: string;
  readonly expect: string;
}

/** Fails when there are none: a test over nothing proves nothing. */
export function corpusEntries(kind: string, expect: string): CorpusEntry[] {
  const lines = readFileSync(new URL('manifest.jsonl', folder), 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as CorpusEntry); // our own file
  const found = entries.filter((entry) => entry.kind === kind && entry.expect === expect);
  if (found.length === 0) throw new Error(`the corpus has no ${kind} file with expect ${expect}`);
  return found;
}

/** The share of the words of `expected` that `text` has too, each as often. */
export function wordRecall(expected: string, text: string): number {
  const counts = new Map<string, number>();
  for (const word of cutWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = cutWords(expected);
  let found = 0;
  for (const word of words) {
    const left = counts.get(word) ?? 0;
    if (left > 0) found += 1;
    counts.set(word, left - 1);
  }
  return words.length === 0 ? 1 : found / words.length;
}
