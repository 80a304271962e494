import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { units } from '../../../../../scripts/score/metrics.ts';
import {
  type CorpusEntry,
  corpusEntries,
  corpusFile,
  corpusFolder,
  isTuningFile,
} from '../../../../../test/support/corpus.ts';
import { layOut } from '../document.ts';
import { readDocument } from './read-document.ts';

/*
 * Compares the readers with pandoc: every word that pandoc reads must be in the text, or the report must count at least as
 * many characters as left out.
 */

interface Comparison {
  readonly words: number;
  /** Words that are neither in the text nor reported. */
  readonly lost: readonly string[];
}

/** Files in which pandoc writes equations in another notation. */
const otherNotation = new Set(['docx/docling__equations.docx']);

async function compare({ path, kind }: CorpusEntry): Promise<Comparison | undefined> {
  const theirs = readWithPandoc(path, kind);
  if (theirs === undefined) return undefined;
  const { facts, ...document } = await readDocument({ format: kind, bytes: corpusFile(path) });
  const counts = new Map<string, number>();
  for (const word of units(`${layOut({ facts, ...document }).text} ${facts.title ?? ''}`)) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = units(theirs);
  const missing = words.filter((word) => {
    const remaining = counts.get(word) ?? 0;
    counts.set(word, remaining - 1);
    return remaining <= 0;
  });
  const reported = Object.values(facts.dropped ?? {}).reduce((sum, count) => sum + count, 0);
  return { words: words.length, lost: missing.join('').length > reported ? missing : [] };
}

/** @returns undefined for a file that pandoc cannot read */
function readWithPandoc(path: string, kind: string): string | undefined {
  const changes = kind === 'docx' ? ['--track-changes=accept'] : [];
  const args = ['-f', kind, '-t', 'plain', '--wrap=none', ...changes, path];
  try {
    return execFileSync('/usr/bin/pandoc', args, {
      cwd: corpusFolder,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: 'pipe',
    });
  } catch {
    return undefined;
  }
}

const most = { docx: 0.002, html: 0.003 };
for (const kind of ['docx', 'html'] as const) {
  test(`no word that pandoc reads in ${kind} files is lost without a report`, async () => {
    const halves = { tuning: { words: 0, lost: 0, files: 0 }, reporting: { words: 0, lost: 0, files: 0 } };
    const explained: string[] = [];
    for (const entry of corpusEntries(kind, 'ok')) {
      const compared = await compare(entry);
      if (compared === undefined) continue;
      const half = halves[isTuningFile(entry) ? 'tuning' : 'reporting'];
      half.files += 1;
      half.words += compared.words;
      half.lost += compared.lost.length;
      if (isTuningFile(entry) && compared.lost.length > 0 && !otherNotation.has(entry.path)) explained.push(entry.path);
    }
    assert.deepEqual(explained, []);
    for (const { words, lost, files } of Object.values(halves)) {
      assert.ok(files > 20, `${files} files`);
      assert.ok(lost <= words * most[kind], `${lost} of ${words} words`);
    }
  });
}
