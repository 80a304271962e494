import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DifyCondition } from '@quartermaster/contract';
import { toFilter } from './routes.ts';

const list = (length: number) => Array.from({ length }, (_, n) => n);
const names = (length: number) => list(length).map((n) => `k${n}`);
const translate = (...conditions: DifyCondition[]) => toFilter({ conditions });

test('the values of a condition of Dify count once for each of its names', () => {
  const most: DifyCondition = { name: names(8), comparison_operator: 'in', value: list(64) };
  assert.notEqual(translate(most), undefined);
  assert.throws(() => translate(most, { name: 'k', comparison_operator: 'empty' }), {
    message: 'body/metadata_condition must be a filter with at most 512 values in all; received 513 values.',
  });
});

test('half of a surrogate pair in a condition of Dify is refused with its place', () => {
  const expected = 'must be well-formed Unicode text; received text with half of a surrogate pair.';
  const path = 'body/metadata_condition/conditions/0';
  for (const value of ['\ud83d', ['a', '\ud83d']]) {
    const message = `${path}/value ${expected}`;
    assert.throws(() => translate({ name: 'k', comparison_operator: 'in', value }), { message });
  }
  const named: DifyCondition = { name: ['k', '\udc00'], comparison_operator: 'not empty' };
  assert.throws(() => translate(named), { message: `${path}/name ${expected}` });
});
