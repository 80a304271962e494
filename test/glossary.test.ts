import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAvoidedWords } from '../scripts/glossary/find-avoided-words.ts';
import { readGlossary } from '../scripts/glossary/read-glossary.ts';

const terms = readGlossary('docs/glossary.md');
const find = (path: string, text: string) => findAvoidedWords(path, text, terms);

test('an exported name, a file name and a table that the glossary avoids are reported', () => {
  assert.equal(find('packages/a.ts', 'export function createBell() {}').length, 1);
  assert.equal(find('packages/light-stem.ts', '').length, 1);
  assert.equal(find('packages/a.ts', "schema.createTable('light_stem')").length, 1);
  assert.deepEqual(find('packages/a.ts', 'export function label() {}\nconst bell = 1;'), []);
});

test('a phrase is found across the lines of a comment and in a document, a part of a word is not', () => {
  assert.equal(find('packages/a.ts', '/**\n * Keeps the last\n * words of a process.\n */').length, 1);
  assert.equal(find('docs/a.md', 'It keeps the last\nwords.').length, 1);
  assert.deepEqual(find('docs/a.md', 'It stores the blast wordsmith.'), []);
});

test('a path that is allowed to use a word is not checked for it', () => {
  assert.deepEqual(find('docs/decisions/0030-a.md', 'It cuts words.'), []);
  assert.equal(find('docs/decisions/0031-a.md', 'It cuts words.').length, 1);
});
