import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChunkFilter } from './chunk-index.ts';
import {
  allowRecords,
  listFiles,
  listFilterTerms,
  mostAllowedRecords,
  mostRecordsOfFiles,
  recordTerm,
  toRestriction,
} from './filter-terms.ts';

const lang: ChunkFilter = { type: 'eq', key: 'lang', value: 'en' };
const later: ChunkFilter = { type: 'gt', key: 'year', value: 2020 };
const english = { type: 'terms', terms: ['\u0001tlang\u0001en'] };

test('a chunk has terms for its record and its entries, which replace those of its record', () => {
  const terms = listFilterTerms({
    recordId: 'rec1',
    metadata: { lang: 'en', year: 2020, isNew: true, none: null, list: ['x'] },
    recordMetadata: { lang: 'de', page: '7', none: 'x' },
  });
  const expected = ['rrec1', 'tlang\u0001en', 'nyear\u00012020', 'bisNew\u0001true', 'tpage\u00017', 'npage\u00017'];
  assert.deepEqual(new Set(terms), new Set(expected.map((term) => `\u0001${term}`)));
});

test('a filter is translated only where every chunk that meets it has one of the terms', () => {
  assert.deepEqual(toRestriction(lang, []), english);
  assert.equal(toRestriction(later, []), null);
  assert.equal(toRestriction({ type: 'ne', key: 'lang', value: 'en' }, []), null);
  assert.deepEqual(toRestriction({ type: 'and', filters: [later, lang] }, []), { type: 'and', parts: [english] });
  assert.equal(toRestriction({ type: 'and', filters: [later] }, []), null);
  assert.equal(toRestriction({ type: 'or', filters: [later, lang] }, []), null);
  assert.deepEqual(toRestriction({ type: 'or', filters: [lang, lang] }, []), { type: 'or', parts: [english, english] });
});

test('ids of records are terms, and ids of files are the terms of their records', () => {
  const ofRecords = (...ids: string[]) => ({ type: 'terms', terms: ids.map(recordTerm) });
  assert.deepEqual(toRestriction({ type: 'eq', field: 'record_id', value: 'a' }, []), ofRecords('a'));
  assert.deepEqual(toRestriction({ type: 'in', field: 'record_id', value: ['a', 'b', 'a'] }, []), ofRecords('a', 'b'));
  const files: ChunkFilter = { type: 'in', field: 'file_id', value: ['f', 'g', 'f'] };
  const others: ChunkFilter = { type: 'ne', field: 'file_id', value: 'h' };
  assert.deepEqual(listFiles({ type: 'and', filters: [files, others, lang] }), ['f', 'g']);
  const found = [
    { fileId: 'g', recordId: 'b' },
    { fileId: 'f', recordId: 'a' },
    { fileId: 'f', recordId: 'c' },
  ];
  assert.deepEqual(toRestriction(files, found), ofRecords('a', 'c', 'b'));
  assert.deepEqual(toRestriction(files, []), ofRecords());
});

test('files do not restrict when a filter names more than 512, or they have more records', () => {
  const value = Array.from({ length: mostRecordsOfFiles + 1 }, (_, n) => `f${n}`);
  const files: ChunkFilter = { type: 'in', field: 'file_id', value };
  assert.equal(listFiles({ ...files, value: value.slice(1) })?.length, mostRecordsOfFiles);
  assert.equal(listFiles(files), null);
  assert.equal(toRestriction(files, null), null);
});

test('a filter with more than 512 values is not translated', () => {
  const value = Array.from({ length: 100 }, (_, n) => `v${n}`);
  const filters = (count: number): ChunkFilter[] =>
    Array.from({ length: count }, () => ({ type: 'in', key: 'k', value }));
  assert.notEqual(toRestriction({ type: 'or', filters: filters(5) }, []), null);
  assert.equal(toRestriction({ type: 'or', filters: filters(6) }, []), null);
});

test('the chunks of up to 64 records are added, and with more there is no restriction', () => {
  const restriction = toRestriction(lang, []);
  assert.ok(restriction !== null);
  const records = Array.from({ length: mostAllowedRecords }, (_, n) => `rec${n}`);
  assert.deepEqual(allowRecords(restriction, []), english);
  assert.deepEqual(allowRecords(restriction, records), {
    ...{ type: 'or', parts: [english, { type: 'terms', terms: records.map(recordTerm) }] },
  });
  assert.equal(allowRecords(restriction, [...records, 'one more']), null);
});

test('numbers that a database may read as equal have a common term', () => {
  for (const value of [0.1 + 0.2, 1e21, 123456789012.5, 0, 5e-324, 1e300, -1 / 3]) {
    for (const read of [value, value * (1 + Number.EPSILON), value * (1 - Number.EPSILON)]) {
      const restriction = toRestriction({ type: 'eq', key: 'n', value: read }, []);
      const terms = restriction?.type === 'terms' ? restriction.terms : [];
      const own = listFilterTerms({ recordId: null, metadata: { n: value }, recordMetadata: {} });
      assert.ok(
        own.some((term) => terms.includes(term)),
        `${value} and ${read}`,
      );
    }
  }
});
