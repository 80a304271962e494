import assert from 'node:assert/strict';
import { test } from 'node:test';
import jmespath, { type JSONValue } from '@jmespath-community/jmespath';
import { parseExactJson } from '../../kernel/json/exact-json.ts';
import { evaluateExpression } from './bounded-interpreter.ts';

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

test('an expression that calculates with an integer beyond 2^53, or orders it among texts, ends with an error', () => {
  for (const expression of ['n + `1`', '-n', 'sum([n, `"1"`])', 'sort_by([{"a": n}, {"a": `"x"`}], &a)']) {
    assert.throws(() => evaluateExpression(jmespath.compile(expression), value), Error, expression);
  }
});
