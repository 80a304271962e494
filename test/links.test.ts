import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '..');
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md', ':!:**/fixtures/**'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page !== '' && existsSync(join(root, page)));

test('every relative link of a page leads to a file, and its fragment to a heading', () => {
  assert.ok(pages.length > 80, `only ${pages.length} pages`);
  assert.deepEqual(
    pages.flatMap((page) => brokenLinks(page, readPage(page))),
    [],
  );
});

test('a link to a missing file or heading is found', () => {
  const text = '# Here\n[a](README.md) [b](#here) [c](missing.md) [d](#missing) [e](README.md#missing)';
  assert.deepEqual(brokenLinks('here.md', text), [
    'here.md: missing.md',
    'here.md: #missing',
    'here.md: README.md#missing',
  ]);
});

test('the index of the documentation links to every guide and page of the reference', () => {
  const index = readPage('docs/README.md');
  const documents = pages.filter((page) => /^docs\/(?:guides\/|reference\/)?[\w-]+\.md$/.test(page));
  assert.deepEqual(
    documents.filter((page) => page !== 'docs/README.md' && !index.includes(`](${page.replace('docs/', '')})`)),
    [],
  );
});

test('the change log lists in at most 120 lines what the first version has', () => {
  const lines = readPage('CHANGELOG.md').trimEnd().split('\n');
  const headings = lines.filter((line) => /^(?:## |### (?:Changed|Removed|Fixed)$)/.test(line));
  assert.deepEqual(headings, ['## 0.1.0 (unreleased)'], 'a merge brought lines of an earlier log back: remove them');
  assert.ok(lines.length <= 120, `${lines.length} lines`);
});

function brokenLinks(page: string, text: string): string[] {
  const prose = text.replace(/^ *```[\s\S]*?^ *```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(?:https?|mailto):/.test(link) && !leads(page, text, link))
    .map((link) => `${page}: ${link}`);
}

function leads(page: string, text: string, link: string): boolean {
  const [path = '', fragment] = link.split('#');
  const target = join(dirname(page), path);
  if (path !== '' && !existsSync(join(root, target))) return false;
  return fragment === undefined || headings(path === '' ? text : readPage(target)).has(fragment);
}

function headings(text: string): Set<string> {
  const lines = text.match(/^#+ .*$/gm) ?? [];
  const names = lines.map((line) => line.replace(/^#+ /, '').toLowerCase());
  return new Set(names.map((name) => name.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')));
}

function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
