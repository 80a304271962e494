import assert from 'node:assert/strict';
import { test } from 'node:test';
import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import { parseExactJson } from '../../../platform/json/exact-json.ts';
import { evaluateExpression } from './bounded-interpreter.ts';
import { compileExactly } from './mapping.ts';

const value = parseExactJson(`{
  "n": 1234567890123456789, "all": [1234567890123456789, 5, -9007199254740993],
  "items": [{"id": 1234567890123456790}, {"id": 3}, {"id": 1234567890123456789}]
}`) as JSONValue;
const [n, low] = [1234567890123456789n, -9007199254740993n];

test('expressions compare and order integers beyond 2^53 exactly, and functions keep their digits', () => {
  const expected: Record<string, unknown> = {
    'n > `5`': true,
    '`5` >= n': false,
    'n < `1e30`': true,
    'n <= n': true,
    'n > `"5"`': null,
    'all[?@ > `5`]': [n],
    'items[?id > `5`] | length(@)': 2,
    'sum(all)': n + 5n + low,
    'avg(all)': Number(n + 5n + low) / 3,
    'max(all)': n,
    'min(all)': low,
    'sort(all)': [low, 5, n],
    'sort_by(items, &id)[].id': [3, n, n + 1n],
    'max_by(items, &id).id': n + 1n,
    'min_by(items[?id > `5`], &id).id': n,
    'to_number(n)': n,
    'to_string(n)': '1234567890123456789',
    'to_string(all)': '[1234567890123456789,5,-9007199254740993]',
    'type(n)': 'number',
    'abs(all[2])': -low,
    'ceil(n)': n,
    'floor(n)': n,
    'contains(all, n)': true,
    'not_null(n)': n,
  };
  for (const [expression, result] of Object.entries(expected)) {
    assert.deepEqual(evaluateExpression(jmespath.compile(expression), value), result, expression);
  }
});

test('sums, differences and products of integers beyond 2^53 are exact, and other results are doubles', () => {
  const double = Number(n);
  const expected: Record<string, unknown> = {
    'n + `1`': n + 1n,
    '`1` + n': n + 1n,
    'n - `1`': n - 1n,
    'n - n': 0,
    'n * `2`': n * 2n,
    '`-2` × n': n * -2n,
    'n + `0.5`': double + 0.5,
    'n * `0.5`': double * 0.5,
    'n / `1000000`': double / 1_000_000,
    'n ÷ `1000000`': double / 1_000_000,
    'n // `1000000`': Math.floor(double / 1_000_000),
    'n % `1000`': double % 1000,
    '`7` % n': 7,
    '-n': -n,
    '+n': n,
    '-all[2]': -low,
    '`1` + `2` * `3`': 7,
    '`7` // `2`': 3,
    '-`5`': -5,
    'items[*].id | @[0] - @[2]': 1,
    'n * `1e300`': Number.POSITIVE_INFINITY,
  };
  for (const [expression, result] of Object.entries(expected)) {
    assert.deepEqual(evaluateExpression(jmespath.compile(expression), value), result, expression);
  }
});

test('literals beyond 2^53 keep their digits', () => {
  const expected: Record<string, unknown> = {
    'items[?id == `1234567890123456789`].id': [n],
    'items[?id != `1234567890123456789`].id': [n + 1n, 3],
    'items[?id > `1234567890123456789`].id': [n + 1n],
    'n - `1234567890123456780`': 9,
    '`[1234567890123456789, {"a": -9007199254740993}]`': [n, { a: low }],
    "contains(`[1234567890123456789]`, n) && 'a `1234567890123456789` \\' b'": "a `1234567890123456789` ' b",
    'items[?id == `1234567890123456790`] | [0].{"1234567890123456789`": id}': { '1234567890123456789`': n + 1n },
    '`"\\`1234567890123456789"`': '`1234567890123456789',
    '`[9007199254740992.0]`[0] == `9007199254740992`': true,
  };
  for (const [expression, result] of Object.entries(expected)) {
    assert.deepEqual(evaluateExpression(compileExactly(expression), value), result, expression);
  }
  assert.throws(() => compileExactly('`1234567890123456789,`'), Error);
});

test('a chain of products is bounded by the largest double', () => {
  const chain = `${'[0] * [0] | [@] | '.repeat(30)}[0]`;
  assert.equal(evaluateExpression(jmespath.compile(chain), [n] as unknown as JSONValue), Number.POSITIVE_INFINITY);
});

test('an expression that calculates with other values, or orders an integer among texts, ends with an error', () => {
  for (const expression of [
    ...['n + `"1"`', 'n - missing', '-missing', '+`"1"`', 'n / `0`', 'n // `0`'],
    ...['sum([n, `"1"`])', 'sort_by([{"a": n}, {"a": `"x"`}], &a)'],
  ]) {
    assert.throws(() => evaluateExpression(jmespath.compile(expression), value), Error, expression);
  }
});
