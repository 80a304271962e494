import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { allowsRange, matchesAny, readRange } from './file-content.ts';

describe('Range', () => {
  const part = (start: number, end: number) => ({ kind: 'part', range: { start, end } });
  const cases: Record<string, unknown> = {
    'bytes=0-0': part(0, 0),
    'bytes=0-9': part(0, 9),
    'bytes=0-99': part(0, 9),
    'bytes=5-': part(5, 9),
    'bytes=-3': part(7, 9),
    'bytes=-99': part(0, 9),
    'Bytes= 2-3 ': part(2, 3),
    'bytes=10-': { kind: 'unsatisfiable' },
    'bytes=10-20': { kind: 'unsatisfiable' },
    'bytes=-0': { kind: 'unsatisfiable' },
    'bytes=3-2': { kind: 'whole' },
    'bytes=-': { kind: 'whole' },
    'bytes=a-b': { kind: 'whole' },
    'bytes=0-1,3-4': { kind: 'whole' },
    'lines=0-1': { kind: 'whole' },
    'bytes=1-1234567890123456': { kind: 'whole' },
  };
  for (const [header, expected] of Object.entries(cases)) {
    test(`${header} of 10 bytes`, () => assert.deepEqual(readRange(header, 10), expected));
  }
  test('a request without a Range header is for the whole content', () =>
    assert.deepEqual(readRange(undefined, 10), { kind: 'whole' }));
  test('no range of empty content can be satisfied', () => {
    assert.deepEqual(readRange('bytes=0-', 0), { kind: 'unsatisfiable' });
    assert.deepEqual(readRange('bytes=-5', 0), { kind: 'unsatisfiable' });
  });
});

test('If-None-Match compares weakly, If-Range strongly', () => {
  assert.ok(matchesAny('"a", W/"b"', '"b"'));
  assert.ok(matchesAny('*', '"b"'));
  assert.ok(!matchesAny('"a"', '"b"'));
  assert.ok(!matchesAny(undefined, '"b"'));
  assert.ok(allowsRange(undefined, '"b"'));
  assert.ok(allowsRange('"b"', '"b"'));
  assert.ok(!allowsRange('W/"b"', '"b"'));
  assert.ok(!allowsRange('Sat, 21 Nov 2026 00:00:00 GMT', '"b"'));
});
