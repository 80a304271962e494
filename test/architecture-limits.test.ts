import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../packages/server/src/limits.ts';
import { findLimitTests } from '../scripts/reference/limit-tests.ts';

const names = Object.values(limits).flatMap((group) => Object.keys(group));

test('no two limits have the same name, and each name consists of several words', () => {
  assert.deepEqual(names, [...new Set(names)]);
  assert.deepEqual(
    names.filter((name) => !/^[a-z]+(?:_[a-z]+)+$/.test(name)),
    [],
  );
});

test('every limit has a test whose title says "the limit <name>"', () => {
  const tests = findLimitTests();
  assert.deepEqual(
    names.filter((name) => !tests.has(name)),
    [],
  );
});

test('every test of a limit names a limit that exists', () => {
  const unknown = [...findLimitTests()].filter(([name]) => !names.includes(name));
  assert.deepEqual(unknown, []);
});
