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

/** Each source gives one name that the glossary avoids. */
const planted: ReadonlyArray<readonly [form: string, path: string, source: string]> = [
  ['a file', 'packages/light-stem.ts', ''],
  ['a folder', 'packages/guest/a.ts', ''],
  ['a document', 'docs/bell.md', ''],
  ['a function', 'packages/a.ts', 'export function createBell() {}'],
  ['an asynchronous generator', 'packages/a.ts', 'export async function* dissolve() {}'],
  ['a local function', 'packages/a.ts', 'function open() { function takeOver() {} return takeOver; }'],
  ['a function expression', 'packages/a.ts', 'export const open = function insist() {};'],
  ['a parameter', 'packages/a.ts', 'export function open(patienceMs: number) {}'],
  ['a parameter with a default', 'packages/a.ts', 'export const open = (hurry = true) => hurry;'],
  ['a rest parameter', 'packages/a.ts', 'export function open(...mistakes: string[]) {}'],
  ['a destructured parameter', 'packages/a.ts', 'export function open({ wait: upkeep }: Options) {}'],
  ['a parameter property', 'packages/a.ts', 'class Open { constructor(private bell: Int32Array) {} }'],
  ['a parameter of a function type', 'packages/a.ts', 'export type Open = (seal: string) => void;'],
  ['a variable', 'packages/a.ts', 'const bell = 1;'],
  ['a second declarator', 'packages/a.ts', 'export const x = 1, upkeep = 2;'],
  ['a destructured export', 'packages/a.ts', 'export const { guest } = options;'],
  ['a renamed destructured export', 'packages/a.ts', 'export const { a: { b: [guest] } } = options;'],
  ['a caught error', 'packages/a.ts', 'try { open(); } catch (mistake) { report(); }'],
  ['an export list', 'packages/a.ts', 'export { bell };'],
  ['a renamed export', 'packages/a.ts', 'export { event as hurry };'],
  ['a re-export', 'packages/a.ts', "export { event as bell } from './event.ts';"],
  ['a re-exported module', 'packages/a.ts', "export * as bell from './event.ts';"],
  ['a renamed import', 'packages/a.ts', "import { event as bell } from './event.ts';"],
  ['an imported module', 'packages/a.ts', "import * as bell from './event.ts';"],
  ['a class', 'packages/a.ts', 'export default class Closer {}'],
  ['a method of a class', 'packages/a.ts', 'class Open { static insist() {} }'],
  ['a field of a class', 'packages/a.ts', 'class Open { readonly patience = 1; }'],
  ['a private field', 'packages/a.ts', 'class Open { #bell = 1; }'],
  ['an abstract method', 'packages/a.ts', 'abstract class Open { abstract hurry(): void; }'],
  ['an interface', 'packages/a.ts', 'interface NotNow {}'],
  ['a member of an interface', 'packages/a.ts', 'export interface Repository { readonly sealed: string }'],
  ['a method of an interface', 'packages/a.ts', 'export interface Repository { hurry(key: string): void }'],
  ['a quoted member', 'packages/a.ts', "export interface Repository { 'give-back': string }"],
  ['a member of a nested type', 'packages/a.ts', 'export type Open = { a: { beat(): void }[] };'],
  ['a type', 'packages/a.ts', 'type Tally = number;'],
  ['a type parameter', 'packages/a.ts', 'export type List<Guest> = Guest[];'],
  ['an element of a tuple', 'packages/a.ts', 'export type Pair = [wish: string, options: string];'],
  ['an enumeration', 'packages/a.ts', 'enum Lane { first }'],
  ['a member of an enumeration', 'packages/a.ts', 'enum State { sealed }'],
  ['a namespace', 'packages/a.ts', 'export namespace closer { export const a = 1; }'],
  ['a function in an object', 'packages/a.ts', 'return1({ giveBack: () => 1 });'],
  ['a method in an object', 'packages/a.ts', 'return1({ storeEnd() {} });'],
  ['a component', 'packages/a.tsx', 'export const Page = ({ wish }: Options) => <p>{wish}</p>;'],
  ['a script', 'scripts/a.mjs', 'const bell = 1;'],
  ['a table of a migration', 'packages/a.ts', "schema.createTable('light_stem')"],
  ['a table in a statement', 'packages/a.ts', 'sql`create table if not exists light_stem (id text)`'],
  ['a table of a SQL file', 'packages/a.sql', 'CREATE TABLE light_stem (id text);'],
];

for (const [form, path, source] of planted) {
  test(`a word to avoid is reported in the name of ${form}`, () => {
    assert.equal(find(path, source).length, 1, find(path, source).join());
  });
}

test('a use of a name that is declared elsewhere, a part of a word and a value in an object are not reported', () => {
  const sources = [
    'export function label() {}',
    'call(bell.hurry)',
    'send({ bell: 1 })',
    "import { bell } from 'other';",
  ];
  for (const source of sources) assert.deepEqual(find('packages/a.ts', source), []);
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
  assert.deepEqual(find('docs/decisions/0135-a.md', 'It cuts words.'), []);
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
