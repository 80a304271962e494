import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { corpusFolder } from '../../test/support/corpus.ts';

export interface Entry {
  readonly path: string;
  readonly kind: string;
  readonly expect: string;
  readonly sha256: string;
  readonly decode?: string;
  readonly ground_truth?: readonly string[];
  readonly gt_kind?: string;
  readonly facts?: { readonly poppler_chars?: number };
  readonly baseline?: {
    readonly recall?: number;
    readonly precision?: number;
    readonly order5?: number;
    readonly heading_f1?: number;
  };
}

/** Returns the documents of the given formats. */
export function readManifest(kinds: readonly string[]): Entry[] {
  const lines = readFileSync(join(corpusFolder, 'manifest.jsonl'), 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Entry); // the format described in the README of the corpus
  return entries.filter((entry) => kinds.includes(entry.kind));
}

export function readCorpus(path: string): Buffer {
  const file = join(corpusFolder, path);
  return path.endsWith('.xz') ? execFileSync('xz', ['-dc', file], { maxBuffer: 2 ** 30 }) : readFileSync(file);
}

/**
 * Returns the ground truth of a document whose file name has this ending, compressed or not; undefined when there is
 * none.
 */
export function readTruth(entry: Entry, ending: string): string | undefined {
  const path = entry.ground_truth?.find((name) => name.endsWith(ending) || name.endsWith(`${ending}.xz`));
  return path === undefined ? undefined : readCorpus(path).toString();
}
