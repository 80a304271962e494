import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Documents of others, for the checks of `npm run test:corpus`. They are not part of the repository: the folder is
 * `QUARTERMASTER_CORPUS`, or `../shared` beside the checkout. It holds `corpus/` (documents with `manifest.jsonl`) and
 * `openapi/`.
 */
export const corpusRoot = resolve(process.env.QUARTERMASTER_CORPUS || resolve(import.meta.dirname, '../../../shared'));

export const corpusFolder = join(corpusRoot, 'corpus');

export function hasCorpus(): boolean {
  return existsSync(join(corpusFolder, 'manifest.jsonl'));
}

/** Ends a script that needs the corpus with one sentence when there is none. */
export function requireCorpus(): void {
  if (hasCorpus()) return;
  console.error(
    `There is no corpus in ${corpusRoot}. It is not part of the repository: set QUARTERMASTER_CORPUS to its folder (CONTRIBUTING.md).`,
  );
  process.exit(66);
}

/** Returns the bytes of a document. */
export function corpusFile(path: string): Buffer {
  return readFileSync(join(corpusFolder, path));
}

/** Returns the lines of all files in these folders, decoded as UTF-8 even if they are binary. */
export function corpusLines(folders: readonly string[]): string[] {
  return folders.flatMap((name) => {
    const paths = readdirSync(join(corpusFolder, name)).map((file) => `${name}/${file}`);
    return paths.flatMap((path) => corpusFile(path).toString().split('\n'));
  });
}

export interface CorpusEntry {
  readonly path: string;
  readonly kind: string;
  readonly expect: string;
  readonly sha256: string;
  readonly ground_truth?: readonly string[] | null;
  readonly gt_kind?: string | null;
}

/**
 * Returns the files of a kind with ground truth of this kind.
 * @throws when there are none
 */
export function corpusTruths(kind: string, trust: RegExp): ReadonlyArray<CorpusEntry & { readonly truth: string }> {
  const known = readCorpusManifest().filter((entry) => entry.kind === kind && trust.test(entry.gt_kind ?? ''));
  if (known.length === 0) throw new Error(`the corpus has no ${kind} file with such a ground truth`);
  return known.map((entry) => ({ ...entry, truth: corpusText(entry.ground_truth?.[0] ?? '') }));
}

/**
 * Whether people may look at the file while they work on a reader. The other half of the corpus measures the readers on
 * documents that they were not written for.
 */
export function isTuningFile({ sha256 }: Pick<CorpusEntry, 'sha256'>): boolean {
  return /^[0-7]/.test(sha256);
}

function corpusText(path: string): string {
  const bytes = corpusFile(path);
  return (path.endsWith('.xz') ? execFileSync('xz', ['-dc'], { input: bytes, maxBuffer: 2 ** 28 }) : bytes).toString();
}

export function readCorpusManifest(): CorpusEntry[] {
  const lines = readFileSync(join(corpusFolder, 'manifest.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as CorpusEntry); // the format that its README describes
}

/**
 * Returns the matching entries.
 * @throws when there are none, because a test without input proves nothing
 */
export function corpusEntries(kind: string, expect: string): CorpusEntry[] {
  const found = readCorpusManifest().filter((entry) => entry.kind === kind && entry.expect === expect);
  if (found.length === 0) throw new Error(`the corpus has no ${kind} file with expect ${expect}`);
  return found;
}
