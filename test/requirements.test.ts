import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { requirements } from './requirements.ts';

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

test('every file of requirements is read, and no id occurs twice', () => {
  const families = globSync('test/requirements/*.ts').map((file) => readFileSync(file, 'utf8'));
  const written = families.flatMap((source) => [...source.matchAll(/^ {2}'([a-z]+\.[a-z-]+)': \{$/gm)]);
  assert.deepEqual(requirements.map(([id]) => id).sort(), written.map(([, id]) => id).sort());
  assert.equal(new Set(requirements.map(([id]) => id)).size, requirements.length);
});

test('every requirement cites tests that exist', () => {
  const missing = requirements.flatMap(([id, { tests }]) =>
    tests.length === 0
      ? [`${id} has no test`]
      : tests.filter((title) => !titles.has(title)).map((title) => `${id}: ${title}`),
  );
  assert.deepEqual(missing, []);
});

test('every acceptance test is cited by a requirement', () => {
  const cited = new Set(requirements.flatMap(([, { tests }]) => tests));
  const outside = [...titles].filter((title) => /^\[[a-z]+\] /.test(title));
  assert.deepEqual(
    outside.filter((title) => !cited.has(title)),
    [],
  );
});
