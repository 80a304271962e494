import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChunkFilter } from '../chunk-index.ts';
import { listFilterTerms } from '../filter-terms.ts';
import { toRestriction } from '../restriction.ts';
import { buildSegment } from './build-segment.ts';
import { createCollectionIndexes } from './collection-index.ts';

/** Number of pages that were read. No page is cached. */
let pagesRead = 0;

/** Returns the numbers of the chunks of a segment that may meet a filter; null for all. */
function createFinder(entries: ReadonlyArray<Readonly<Record<string, unknown>>>) {
  const chunks = entries.map((metadata, at) => ({
    ...{ seq: at + 1, length: 1, terms: new Map([['red', 1]]) },
    filterTerms: listFilterTerms({ recordId: null, metadata, recordMetadata: {} }),
  }));
  const { header, pages } = buildSegment(chunks);
  const limit = 10_000_000;
  const open = createCollectionIndexes(
    {
      list: () => [1],
      readHeader: () => header,
      readPage(_, page) {
        pagesRead++;
        return pages[page] as Uint8Array;
      },
    },
    { headerBytes: limit, pageBytes: 0, listBytes: limit, candidateBytes: limit },
  );
  return (filter: ChunkFilter): readonly number[] | null => {
    const [segment] = open('c').find(['red'], { restriction: toRestriction(filter, []) }).segments;
    return segment?.candidates === null || segment === undefined ? null : [...segment.candidates];
  };
}

const count = 6000;
const year = (at: number) => 2000 + (at % 7);
const numbers = Array.from({ length: count }, (_, at) => (at * 7919) % count);
const find = createFinder(
  numbers.map((number, at) => ({
    number,
    half: number / 2,
    year: year(at),
    name: `n${number % 1000}`,
    few: at % 3 === 0 ? 'x' : 'y',
  })),
);
const chunksWith = (meets: (number: number, at: number) => boolean) =>
  numbers.flatMap((number, at) => (meets(number, at) ? [at] : []));
const both = (...filters: ChunkFilter[]): ChunkFilter => ({ type: 'and', filters });

test('a range finds exactly the chunks with integers between its bounds, in many pages of the dictionary', () => {
  assert.deepEqual(
    find({ type: 'gte', key: 'number', value: 5900 }),
    chunksWith((number) => number >= 5900),
  );
  assert.deepEqual(
    find({ type: 'gt', key: 'number', value: 5900 }),
    chunksWith((number) => number > 5900),
  );
  assert.deepEqual(
    find({ type: 'lt', key: 'number', value: 1 }),
    chunksWith((number) => number < 1),
  );
  assert.deepEqual(find({ type: 'lte', key: 'number', value: -1 }), []);
  const between = both({ type: 'gt', key: 'number', value: 100 }, { type: 'lte', key: 'number', value: 4000 });
  assert.deepEqual(
    find(between),
    chunksWith((number) => number > 100 && number <= 4000),
  );
  const empty = both({ type: 'gt', key: 'number', value: 200 }, { type: 'lt', key: 'number', value: 100 });
  assert.deepEqual(find(empty), []);
  const halves = both({ type: 'gte', key: 'half', value: 10.5 }, { type: 'lt', key: 'half', value: 20 });
  assert.deepEqual(
    find(halves),
    chunksWith((number) => number >= 21 && number < 40),
  );
});

test('a range finds the chunks of terms with long lists', () => {
  assert.deepEqual(
    find({ type: 'gte', key: 'year', value: 2005 }),
    chunksWith((_, at) => year(at) >= 2005),
  );
  assert.deepEqual(
    find({ type: 'ne', key: 'year', value: 2000 }),
    chunksWith((_, at) => year(at) !== 2000),
  );
});

test('parts of texts, missing entries and negations find exactly their chunks', () => {
  const name = (number: number) => `n${number % 1000}`;
  const cases: ReadonlyArray<readonly [ChunkFilter, (number: number, at: number) => boolean]> = [
    [{ type: 'contains', key: 'name', value: '99' }, (number) => name(number).includes('99')],
    [{ type: 'ends_with', key: 'name', value: '9' }, (number) => name(number).endsWith('9')],
    [{ type: 'starts_with', key: 'name', value: 'n1' }, (number) => name(number).startsWith('n1')],
    [{ type: 'not_contains', key: 'name', value: '1' }, (number) => !name(number).includes('1')],
    [{ type: 'gt', key: 'few', value: 'x' }, (_, at) => at % 3 !== 0],
    [{ type: 'nin', key: 'few', value: ['y', 'z'] }, (_, at) => at % 3 === 0],
    [{ type: 'not_empty', key: 'few' }, () => true],
    [{ type: 'empty', key: 'few' }, () => false],
    [{ type: 'empty', key: 'other' }, () => true],
  ];
  for (const [filter, meets] of cases) assert.deepEqual(find(filter), chunksWith(meets), JSON.stringify(filter));
});

test('a range with too many terms restricts nothing, and the other parts of its group still do', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) => `${at}`.padStart(8, '0').repeat(15));
  const findText = createFinder(texts.map((text, at) => ({ text, few: at % 100 })));
  const wide: ChunkFilter = { type: 'not_empty', key: 'text' };
  assert.equal(findText(wide), null);
  assert.equal(findText({ type: 'not_contains', key: 'text', value: '1' }), null);
  const few = findText(both(wide, { type: 'eq', key: 'few', value: 7 }));
  assert.deepEqual(
    few,
    texts.flatMap((_, at) => (at % 100 === 7 ? [at] : [])),
  );
  const narrow: ChunkFilter = { type: 'starts_with', key: 'text', value: '0000123' };
  assert.deepEqual(
    findText(narrow),
    texts.flatMap((_, at) => (Math.floor(at / 10) === 123 ? [at] : [])),
  );
});

test('a filter that was used before reads no page again', () => {
  const filter: ChunkFilter = { type: 'lt', key: 'number', value: 4321 };
  const chosen = find(filter);
  assert.ok(pagesRead > 1);
  const before = pagesRead;
  assert.deepEqual(find(filter), chosen);
  assert.equal(pagesRead, before);
  find({ type: 'lt', key: 'number', value: 4322 });
  assert.ok(pagesRead > before);
});
