import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cutWords } from './words.ts';

const folder = new URL('../../../../../shared/corpus/', import.meta.url);

/** The bytes of a file of the test corpus. */
export function corpusFile(path: string): Buffer {
  return readFileSync(new URL(path.split('/').map(encodeURIComponent).join('/'), folder));
}

/** The lines of all files of these folders, as they come out when their bytes are taken for UTF-8: text, and nonsense. */
export function corpusLines(folders: readonly string[]): string[] {
  return folders.flatMap((name) => {
    const paths = readdirSync(new URL(`${name}/`, folder)).map((file) => `${name}/${file}`);
    return paths.flatMap((path) => corpusFile(path).toString().split('\n'));
  });
}

export interface CorpusEntry {
  readonly path: string;
  readonly kind: string;
  readonly expect: string;
  readonly ground_truth?: readonly string[] | null;
  readonly gt_kind?: string | null;
}

/** The files of a kind whose right reading is known, as `trust` says how, with that reading. */
export function corpusTruths(kind: string, trust: RegExp): ReadonlyArray<CorpusEntry & { readonly truth: string }> {
  const known = readManifest().filter((entry) => entry.kind === kind && trust.test(entry.gt_kind ?? ''));
  if (known.length === 0) throw new Error(`the corpus has no ${kind} file with such a ground truth`);
  return known.map((entry) => ({ ...entry, truth: corpusText(entry.ground_truth?.[0] ?? '') }));
}

function corpusText(path: string): string {
  const bytes = corpusFile(path);
  return (path.endsWith('.xz') ? execFileSync('xz', ['-dc'], { input: bytes, maxBuffer: 2 ** 28 }) : bytes).toString();
}

function readManifest(): CorpusEntry[] {
  const lines = readFileSync(new URL('manifest.jsonl', folder), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as CorpusEntry); // our own file
}

/** Fails when there are none: a test over nothing proves nothing. */
export function corpusEntries(kind: string, expect: string): CorpusEntry[] {
  const found = readManifest().filter((entry) => entry.kind === kind && entry.expect === expect);
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
