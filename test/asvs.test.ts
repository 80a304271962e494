import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const page = 'docs/reference/asvs.md';
const text = readFileSync(page, 'utf8');

interface Row {
  readonly number: string;
  readonly level: string;
  readonly state: string;
  readonly evidence: string;
}

const rows: readonly Row[] = text.split('\n').flatMap((line) => {
  const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
  const [number = '', level = '', , state = '', ...evidence] = cells;
  return /^\d+\.\d+\.\d+$/.test(number) ? [{ number, level, state, evidence: evidence.join(' | ') }] : [];
});

test('the page of ASVS has every requirement once, with a state and with evidence or a reason', () => {
  assert.equal(new Set(rows.map(({ number }) => number)).size, rows.length);
  assert.equal(rows.filter(({ level }) => level === '1').length, 66);
  assert.equal(rows.filter(({ level }) => level === '2').length, 138);
  for (const { number, state, evidence } of rows) {
    assert.ok(['met', 'partly', 'not'].includes(state), `${number}: ${state}`);
    assert.ok(evidence.length > 3, `${number} has no evidence`);
  }
});

test('the sums of the page of ASVS are those of its rows', () => {
  const stated = [...text.matchAll(/^\| (?:V(\d+) [^|]*|All) \| ([^|]*) \| ([^|]*) \|$/gm)];
  const found = stated.map(([, chapter, first, second]) => `${chapter ?? 'all'}: ${first} | ${second}`);
  const chapters = [...new Set(rows.map(({ number }) => number.split('.')[0] ?? ''))];
  const expected = [...chapters, 'all'].map((chapter) => `${chapter}: ${sum(chapter, '1')} | ${sum(chapter, '2')}`);
  assert.deepEqual(found, expected);
});

test('every test, setting, file and page that the page of ASVS names exists', () => {
  const tests = globSync(['packages/*/{src,test}/**/*.{test,suite}.ts', 'test/**/*.{test,suite}.ts'])
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const settings = readFileSync('docs/reference/settings.md', 'utf8');
  let named = 0;
  for (const { number, evidence } of rows) {
    for (const [, title = ''] of evidence.matchAll(/“([^”]+)”/g)) {
      const isThere = ["'", '`', '"'].some((quote) => tests.includes(`${quote}${title}${quote}`));
      assert.ok(isThere, `${number}: there is no test “${title}”`);
      named += 1;
    }
    for (const [, setting = ''] of evidence.matchAll(/`(QUARTERMASTER_\w+)`/g)) {
      const name = setting.replace(/_FILE$/, '');
      assert.ok(settings.includes(`| \`${name}\` |`), `${number}: there is no setting ${setting}`);
    }
    for (const [, path = ''] of evidence.matchAll(/`([\w./-]+\.(?:ts|tsx|json|mjs|yml))`/g)) {
      assert.ok(existsSync(path), `${number}: there is no file ${path}`);
    }
    for (const [, target = '', heading] of evidence.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)) {
      const path = join(dirname(page), target);
      assert.ok(existsSync(path), `${number}: there is no page ${path}`);
      if (heading !== undefined)
        assert.ok(headingsOf(path).has(heading), `${number}: ${path} has no heading ${heading}`);
    }
  }
  assert.ok(named >= 150, `only ${named} tests are named`);
});

function sum(chapter: string, level: string): string {
  const all = rows.filter((row) => row.level === level && (chapter === 'all' || row.number.startsWith(`${chapter}.`)));
  return all.length === 0 ? '–' : `${all.filter(({ state }) => state === 'met').length} of ${all.length}`;
}

function headingsOf(path: string): Set<string> {
  const lines = readFileSync(path, 'utf8').match(/^#+ .*$/gm) ?? [];
  return new Set(
    lines.map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}
