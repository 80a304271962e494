import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { requirements, requirementsPage } from './requirements.ts';

const titles = new Set(
  globSync(['packages/*/src/**/*.{test,suite}.ts', 'packages/*/test/**/*.ts', 'test/**/*.{test,suite}.ts'])
    .map((file) => readFileSync(file, 'utf8'))
    .flatMap((source) => [...source.matchAll(/\b(?:test|it|describe|inEachTier)\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g)])
    .map(([, , title = '']) => title),
);

test('there are tests and requirements to compare', () => {
  assert.ok(titles.size > 400, `only ${titles.size} titles found`);
  assert.ok(requirements.length > 60, `only ${requirements.length} requirements found`);
});

test('every entry of the page is read, and no id occurs twice', () => {
  const written = [...requirementsPage.matchAll(/^### (.*)$/gm)].map(([, id]) => id);
  assert.deepEqual(
    requirements.map(({ id }) => id),
    written,
  );
  assert.equal(new Set(written).size, written.length);
  assert.deepEqual(
    written.filter((id = '') => !/^[a-z]+\.[a-z-]+$/.test(id)),
    [],
  );
});

test('every requirement cites tests that exist', () => {
  const missing = requirements.flatMap(({ id, tests }) =>
    tests.length === 0
      ? [`${id} has no test`]
      : tests.filter((title) => !titles.has(title)).map((title) => `${id}: ${title}`),
  );
  assert.deepEqual(missing, []);
});

test('every acceptance test is cited by a requirement', () => {
  const cited = new Set(requirements.flatMap(({ tests }) => tests));
  const outside = [...titles].filter((title) => /^\[[a-z]+\] /.test(title));
  assert.deepEqual(
    outside.filter((title) => !cited.has(title)),
    [],
  );
});
