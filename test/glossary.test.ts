import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { findAvoidedWords } from '../scripts/glossary/find-avoided-words.ts';
import { readGlossary } from '../scripts/glossary/read-glossary.ts';

const terms = readGlossary('docs/glossary.md');
const find = (path: string, text: string) => findAvoidedWords(path, text, terms);

test('an exported name, a file name and a table with a word to avoid are reported', () => {
  assert.equal(find('packages/a.ts', 'export function createBell() {}').length, 1);
  assert.equal(find('packages/light-stem.ts', '').length, 1);
  assert.equal(find('packages/a.ts', "schema.createTable('light_stem')").length, 1);
  assert.deepEqual(find('packages/a.ts', 'export function label() {}\nconst bell = 1;'), []);
});

test('a phrase is found across the lines of a comment, a document and a string, a part of a word is not', () => {
  assert.equal(find('packages/a.ts', '/**\n * Keeps the last\n * words of a process.\n */').length, 1);
  assert.equal(find('docs/a.md', 'It keeps the last\nwords.').length, 1);
  assert.equal(find('docs/a.md', '> It keeps the last\n> words.').length, 1);
  assert.equal(find('docs/a.md', 'It keeps the **last** words.').length, 1);
  assert.equal(find('packages/a.ts', "throw new Error('It keeps the last ' +\n  'words.');").length, 1);
  assert.deepEqual(find('docs/a.md', 'These come last. Words follow.'), []);
  assert.deepEqual(find('docs/a.md', 'It stores the blast wordsmith.'), []);
});

test('a path that is allowed to use a word is not checked for it', () => {
  assert.deepEqual(find('docs/decisions/0030-a.md', 'It cuts words.'), []);
  assert.equal(find('docs/decisions/0031-a.md', 'It cuts words.').length, 1);
});

test('the check reads new files that are not in the index, but no ignored ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-glossary-'));
  try {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    mkdirSync(join(folder, 'docs'));
    copyFileSync('docs/glossary.md', join(folder, 'docs/glossary.md'));
    writeFileSync(join(folder, '.gitignore'), 'ignored.md\n');
    for (const name of ['new.md', 'ignored.md']) writeFileSync(join(folder, name), 'It keeps the last words.');
    const { stderr, status } = spawnSync(process.execPath, [resolve('scripts/glossary.ts')], {
      cwd: folder,
      encoding: 'utf8',
    });
    assert.match(stderr, /^new\.md: the phrase "last words"; use: stderr tail\n1 words/);
    assert.equal(status, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
