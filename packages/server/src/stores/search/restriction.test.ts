import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChunkFilter } from './chunk-index.ts';
import { isExactNumber, listFilterTerms, recordTerm } from './filter-terms.ts';
import { allowRecords, listFiles, mostAllowedRecords, mostRecordsOfFiles, toRestriction } from './restriction.ts';

const lang: ChunkFilter = { type: 'eq', key: 'lang', value: 'en' };
const english = { type: 'terms', terms: ['\u0001tlang\u0001en'] };
/** No number has a certain term but integers, so that this condition excludes no chunk. */
const any: ChunkFilter = { type: 'ne', key: 'n', value: 0.5 };

test('a filter is translated only where every chunk that meets it has one of the terms', () => {
  assert.deepEqual(toRestriction(lang, []), english);
  assert.equal(toRestriction(any, []), null);
  assert.deepEqual(toRestriction({ type: 'and', filters: [any, lang] }, []), { type: 'and', parts: [english] });
  assert.equal(toRestriction({ type: 'and', filters: [any] }, []), null);
  assert.equal(toRestriction({ type: 'or', filters: [any, lang] }, []), null);
  assert.deepEqual(toRestriction({ type: 'or', filters: [lang, lang] }, []), { type: 'or', parts: [english, english] });
});

test('the comparisons of an entry in one group become one range', () => {
  const filters: ChunkFilter[] = [
    { type: 'gte', key: 'year', value: 2000 },
    { type: 'lt', key: 'year', value: 2001 },
    { type: 'gt', key: 'day', value: '2000' },
  ];
  const restriction = toRestriction({ type: 'and', filters }, []);
  assert.ok(restriction?.type === 'and');
  assert.deepEqual(
    restriction.parts.map((part) => part.type === 'range' && part.prefix),
    ['\u0001nyear\u0001', '\u0001tday\u0001'],
  );
  const year = (value: number) => listFilterTerms({ recordId: null, metadata: { year: value }, recordMetadata: {} });
  const [range] = restriction.parts;
  assert.ok(range?.type === 'range');
  const isIn = (value: number) => year(value).some((term) => term >= range.from && term < range.to);
  assert.deepEqual([1999, 2000, 2000.5, 2001.5, 2002].map(isIn), [false, true, true, false, false]);
  assert.deepEqual(range.without, year(2001));
});

test('ids of records are terms, and ids of files are the terms of their records', () => {
  const ofRecords = (...ids: string[]) => ({ type: 'terms', terms: ids.map(recordTerm) });
  assert.deepEqual(toRestriction({ type: 'eq', field: 'record_id', value: 'a' }, []), ofRecords('a'));
  assert.deepEqual(toRestriction({ type: 'in', field: 'record_id', value: ['a', 'b', 'a'] }, []), ofRecords('a', 'b'));
  const files: ChunkFilter = { type: 'in', field: 'file_id', value: ['f', 'g', 'f'] };
  const others: ChunkFilter = { type: 'ne', field: 'file_id', value: 'h' };
  assert.deepEqual(listFiles({ type: 'and', filters: [files, others, lang] }), ['f', 'g', 'h']);
  const found = [
    { fileId: 'g', recordId: 'b' },
    { fileId: 'f', recordId: 'a' },
    { fileId: 'f', recordId: 'c' },
  ];
  assert.deepEqual(toRestriction(files, found), ofRecords('a', 'c', 'b'));
  assert.deepEqual(toRestriction(files, []), ofRecords());
  assert.deepEqual(toRestriction({ ...files, type: 'nin' }, found), { type: 'not', part: ofRecords('a', 'c', 'b') });
  assert.equal(toRestriction(others, found), null);
});

test('files do not restrict when a filter names more than 512, or they have more records', () => {
  const value = Array.from({ length: mostRecordsOfFiles + 1 }, (_, n) => `f${n}`);
  const files: ChunkFilter = { type: 'in', field: 'file_id', value };
  assert.equal(listFiles({ ...files, value: value.slice(1) })?.length, mostRecordsOfFiles);
  assert.equal(listFiles(files), null);
  assert.equal(toRestriction(files, null), null);
});

test('a filter that names files with more than 2,560 terms is not translated', () => {
  const file: ChunkFilter = { type: 'eq', field: 'file_id', value: 'f' };
  const records = Array.from({ length: mostRecordsOfFiles }, (_, n) => ({ fileId: 'f', recordId: `r${n}` }));
  const repeated = (count: number): ChunkFilter => ({ type: 'or', filters: Array.from({ length: count }, () => file) });
  assert.notEqual(toRestriction(repeated(5), records), null);
  assert.equal(toRestriction(repeated(6), records), null);
});

test('the chunks of up to 64 records are added, and with more there is no restriction', () => {
  const restriction = toRestriction(lang, []);
  assert.ok(restriction !== null);
  const records = Array.from({ length: mostAllowedRecords }, (_, n) => `rec${n}`);
  assert.deepEqual(allowRecords(restriction, []), english);
  assert.deepEqual(allowRecords(restriction, records), {
    type: 'or',
    parts: [english, { type: 'terms', terms: records.map(recordTerm) }],
  });
  assert.equal(allowRecords(restriction, [...records, 'one more']), null);
});

test('numbers that a database may read as equal have a common term', () => {
  for (const value of [0.1 + 0.2, 1e21, 123456789012.5, 0, 5e-324, 1e300, -1 / 3, 7, -7]) {
    // Both databases read such integers as they are.
    const others = isExactNumber(value) ? [] : [value * (1 + Number.EPSILON), value * (1 - Number.EPSILON)];
    for (const read of [value, ...others]) {
      const restriction = toRestriction({ type: 'eq', key: 'n', value: read }, []);
      const terms = restriction?.type === 'terms' ? restriction.terms : [];
      for (const entry of [value, String(value)]) {
        const own = listFilterTerms({ recordId: null, metadata: { n: entry }, recordMetadata: {} });
        assert.ok(
          own.some((term) => terms.includes(term)),
          `${value} and ${read}`,
        );
      }
    }
  }
});
