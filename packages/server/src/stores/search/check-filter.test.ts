import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterLimits } from '@quartermaster/contract';
import { Problem } from '../../platform/problem.ts';
import { checkFilter } from './check-filter.ts';
import type { ChunkFilter } from './chunk-index.ts';
import { toRestriction } from './restriction.ts';

/** Returns the message of the refusal. */
function refusalOf(filter: ChunkFilter): string {
  try {
    checkFilter(filter, 'body/filters');
  } catch (error) {
    assert.ok(error instanceof Problem);
    assert.equal(error.code, 'REQUEST_VALIDATION_ERROR');
    return error.message;
  }
  return 'accepted';
}

test('the values of all conditions count together, and a condition without a value counts as one', () => {
  const list = (from: number, length: number) => Array.from({ length }, (_, n) => `v${from + n}`);
  const lists = Array.from({ length: 5 }, (_, n): ChunkFilter => ({ type: 'in', key: 'k', value: list(100 * n, 100) }));
  const most: ChunkFilter = {
    type: 'and',
    filters: [
      ...lists,
      { type: 'nin', field: 'record_id', value: list(0, 9) },
      {
        type: 'or',
        filters: [
          { type: 'eq', key: 'k', value: 1 },
          { type: 'empty', key: 'k' },
        ],
      },
      { type: 'contains', key: 'k', value: 'x' },
    ],
  };
  assert.equal(refusalOf(most), 'accepted');
  const above: ChunkFilter = { type: 'or', filters: [most, { type: 'eq', key: 'k', value: 'x' }] };
  assert.equal(refusalOf(above), 'body/filters must be a filter with at most 512 values in all; received 513 values.');
});

test('every condition of a filter with as many values as are allowed restricts a question', () => {
  const fraction = (n: number) => n + 0.1;
  const conditions: ReadonlyArray<(n: number) => ChunkFilter> = [
    (n) => ({ type: 'eq', key: 'k', value: fraction(n) }),
    (n) => ({ type: 'ne', key: 'k', value: `v${n}` }),
    (n) => ({ type: 'gt', key: 'k', value: n }),
    (n) => ({ type: 'not_contains', key: 'k', value: `v${n}` }),
    (n) => ({ type: 'empty', key: `k${n}` }),
    (n) => ({ type: 'not_empty', key: `k${n}` }),
  ];
  for (const condition of conditions) {
    const filters = Array.from({ length: filterLimits.totalValues }, (_, n) => condition(n));
    const filter: ChunkFilter = { type: 'or', filters };
    assert.equal(refusalOf(filter), 'accepted');
    assert.notEqual(toRestriction(filter, []), null, `${filters[0]?.type}`);
  }
});

test('half of a surrogate pair in a key or value is refused with its place', () => {
  const refused = (place: string) =>
    `body/filters${place} must be well-formed Unicode text; received text with half of a surrogate pair.`;
  assert.equal(refusalOf({ type: 'eq', key: 'k', value: '\ud83d' }), refused('/value'));
  assert.equal(refusalOf({ type: 'empty', key: 'k\udc00' }), refused('/key'));
  const inner: ChunkFilter = { type: 'in', field: 'file_id', value: ['f', '\ud83d\ude00', 'a\ud83d'] };
  assert.equal(refusalOf({ type: 'and', filters: [inner] }), refused('/filters/0/value/2'));
  assert.equal(refusalOf({ type: 'eq', key: '😀', value: '😀\ufffd' }), 'accepted');
});
