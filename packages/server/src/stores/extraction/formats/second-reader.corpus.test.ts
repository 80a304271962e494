import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { units } from '../../../../../../scripts/score/metrics.ts';
import {
  type CorpusEntry,
  corpusEntries,
  corpusFile,
  corpusFolder,
  isTuningFile,
} from '../../../../../../test/support/corpus.ts';
import { layOut } from '../document.ts';
import { readDocument } from './read-document.ts';

/*
 * Compares the readers with pandoc and poppler: every word that they read must be in the text, or the report must count at
 * least as many characters as left out.
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

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/**
 * Returns the words of `pdftotext` whose letters stand nowhere in the text. The readers join words differently, for example
 * with the mark of a note. Words with letters that are read from right to left are left out: poppler reverses some letters.
 */
async function compareWithPoppler({ path }: CorpusEntry): Promise<Comparison> {
  const args = [join(corpusFolder, path), '-'];
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: 'pipe' } as const;
  const words = units(execFileSync('/usr/bin/pdftotext', args, options)).filter((word) => !rightToLeft.test(word));
  const { facts, ...document } = await readDocument({ format: 'pdf', bytes: corpusFile(path) });
  const text = lettersOf(`${layOut({ facts, ...document }).text} ${facts.title ?? ''}`);
  // A text is searched once for each word, not once for each of its occurrences.
  const absent = new Set([...new Set(words)].filter((word) => !text.includes(lettersOf(word))));
  const missing = words.filter((word) => absent.has(word));
  const reported = Object.values(facts.dropped ?? {}).reduce((sum, count) => sum + count, 0);
  return { words: words.length, lost: missing.join('').length > reported ? missing : [] };
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

test('no word that poppler reads in PDF files is lost without a report', async (t) => {
  const halves = { tuning: { words: 0, lost: 0 }, reporting: { words: 0, lost: 0 } };
  const files: { readonly path: string; readonly lost: readonly string[] }[] = [];
  for (const entry of corpusEntries('pdf', 'ok')) {
    const { words, lost } = await compareWithPoppler(entry);
    const half = halves[isTuningFile(entry) ? 'tuning' : 'reporting'];
    half.words += words;
    half.lost += lost.length;
    if (isTuningFile(entry)) files.push({ path: entry.path, lost });
  }
  t.diagnostic(JSON.stringify(halves));
  const worst = files.filter(({ lost }) => lost.length > 0).sort((a, b) => b.lost.length - a.lost.length);
  for (const { path, lost } of worst.slice(0, 5))
    t.diagnostic(`${path}: ${lost.length} lost: ${lost.slice(0, 8).join(' ')}`);
  for (const { words, lost } of Object.values(halves)) {
    assert.ok(words > 10_000, `${words} words`);
    assert.ok(lost <= words * 0.0005, `${lost} of ${words} words`);
  }
});
