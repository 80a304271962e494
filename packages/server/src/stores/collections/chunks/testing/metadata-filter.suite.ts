import assert from 'node:assert/strict';
import type { MetadataFilter } from '@quartermaster/contract';
import type { ChunkFilter } from '../../../search/chunk-index.ts';
import {
  addRecord,
  claim,
  collectionTests,
  foundBy,
  newChunk,
  type OpenedRepositories,
  start,
} from '../../testing/fixtures.suite.ts';

const texts: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  one: { n: 1, lang: 'en', ok: true, day: '2024-05-01', text: '10', written: '31.12.1999' },
  two: { n: 2.5, lang: 'de', ok: false, day: '2025-01-31', text: '9' },
  three: { n: 30, lang: 'EN', ok: null, day: '2025-02-01', text: 'nine', written: '1999' },
  four: {
    nested: { lang: 'en' },
    list: ['en'],
    'a.b"c': 'dot',
    $: 'dollar',
    "it's": 'quote',
    nul: 'a\0b',
    escape: '\\u0000',
    escapes: '\\\0\\\\ud800\0\0',
    half: '\ud83d',
    other: 'x\udc00y',
    slash: '\\ud83d',
    whole: '😀',
  },
  five: { blank: '', written: '1999-12-31' },
};

/** Filters, each with the names of the matching chunks. */
const cases: ReadonlyArray<readonly [ChunkFilter, readonly string[]]> = [
  [{ type: 'eq', key: 'lang', value: 'en' }, ['one']],
  [{ type: 'ne', key: 'lang', value: 'en' }, ['two', 'three', 'four', 'five']],
  [{ type: 'eq', key: 'n', value: 2.5 }, ['two']],
  [{ type: 'eq', key: 'n', value: '30' }, []],
  [{ type: 'gt', key: 'n', value: 1 }, ['two', 'three']],
  [{ type: 'gte', key: 'n', value: 1 }, ['one', 'two', 'three']],
  [{ type: 'lt', key: 'n', value: 30 }, ['one', 'two']],
  [{ type: 'lte', key: 'n', value: -1 }, []],
  [{ type: 'eq', key: 'ok', value: true }, ['one']],
  [{ type: 'ne', key: 'ok', value: false }, ['one', 'three', 'four', 'five']],
  [{ type: 'gt', key: 'day', value: '2025-01-31' }, ['three']],
  [{ type: 'lt', key: 'lang', value: 'a' }, ['three']],
  [{ type: 'after', key: 'day', value: '2025-01-31' }, ['three']],
  [{ type: 'before', key: 'day', value: '2025-01-31T10:00:00Z' }, ['one', 'two']],
  [{ type: 'after', key: 'lang', value: '2025-01' }, []],
  [{ type: 'after', key: 'written', value: '2025-01' }, []],
  [{ type: 'before', key: 'written', value: '2025-01' }, ['five']],
  [{ type: 'gt', key: 'text', value: 9 }, ['one']],
  [{ type: 'eq', key: 'text', value: 9 }, ['two']],
  [{ type: 'in', key: 'lang', value: ['de', 'EN', 5, true] }, ['two', 'three']],
  [{ type: 'in', key: 'n', value: [1, 30] }, ['one', 'three']],
  [{ type: 'nin', key: 'n', value: [1, 30] }, ['two', 'four', 'five']],
  [{ type: 'contains', key: 'day', value: '25-0' }, ['two', 'three']],
  [{ type: 'contains', key: 'lang', value: 'e' }, ['one', 'two']],
  [{ type: 'not_contains', key: 'lang', value: 'e' }, ['three', 'four', 'five']],
  [{ type: 'starts_with', key: 'day', value: '2025' }, ['two', 'three']],
  [{ type: 'starts_with', key: 'day', value: '2025-01-31x' }, []],
  [{ type: 'ends_with', key: 'day', value: '01' }, ['one', 'three']],
  [{ type: 'ends_with', key: 'whole', value: '😀' }, ['four']],
  [{ type: 'contains', key: 'n', value: '3' }, []],
  [{ type: 'contains', key: 'list', value: 'en' }, []],
  [{ type: 'contains', key: 'lang', value: '%' }, []],
  [{ type: 'starts_with', key: 'lang', value: "e' or '1' = '1" }, []],
  [{ type: 'contains', key: 'lang', value: '\0' }, []],
  [{ type: 'ends_with', key: 'lang', value: '\ud800' }, []],
  [{ type: 'not_empty', key: 'ok' }, ['one', 'two']],
  [{ type: 'empty', key: 'ok' }, ['three', 'four', 'five']],
  [{ type: 'not_empty', key: 'list' }, ['four']],
  [{ type: 'empty', key: 'lang' }, ['four', 'five']],
  [{ type: 'not_empty', key: 'blank' }, []],
  [{ type: 'eq', key: 'nested', value: 'en' }, []],
  [{ type: 'eq', key: 'list', value: 'en' }, []],
  [{ type: 'eq', key: 'a.b"c', value: 'dot' }, ['four']],
  [{ type: 'eq', key: '$', value: 'dollar' }, ['four']],
  [{ type: 'eq', key: 'whole', value: '😀' }, ['four']],
  [{ type: 'eq', key: 'escape', value: '\\u0000' }, ['four']],
  [{ type: 'eq', key: 'slash', value: '\\ud83d' }, ['four']],
  [{ type: 'eq', key: '$.lang', value: 'en' }, []],
  [{ type: 'eq', key: "it's", value: 'quote' }, ['four']],
  [{ type: 'eq', key: "x') or 1 = 1 --", value: "x' or '1' = '1" }, []],
  [{ type: 'in', key: 'lang', value: ["de') or true --", '%', '*'] }, []],
  [
    {
      type: 'and',
      filters: [
        { type: 'gte', key: 'n', value: 1 },
        {
          type: 'or',
          filters: [
            { type: 'eq', key: 'ok', value: true },
            { type: 'eq', key: 'lang', value: 'EN' },
          ],
        },
      ],
    },
    ['one', 'three'],
  ],
  [
    {
      type: 'or',
      filters: [
        { type: 'eq', key: 'lang', value: 'de' },
        {
          type: 'and',
          filters: [
            { type: 'ne', key: 'n', value: 1 },
            { type: 'eq', key: 'text', value: 'nine' },
          ],
        },
      ],
    },
    ['two', 'three'],
  ],
];

/** Tests the behaviour of every chunk repository for conditions on metadata. */
export function testMetadataFilter(open: () => OpenedRepositories): void {
  const it = collectionTests(open);
  it('conditions select chunks by their metadata, and keys and values are never interpreted as SQL', async (repositories) => {
    const { collection } = repositories;
    for (const [content, metadata] of Object.entries(texts)) {
      const chunk = newChunk(content, { metadata, words: 'same' });
      await repositories.chunks.add(collection.projectId, collection.id, chunk);
    }
    for (const [filter, expected] of cases) {
      assert.deepEqual(await foundBy(repositories, collection, ['same'], filter), expected, JSON.stringify(filter));
    }
  });

  it('a text counts as a number when it is written as one that a float can represent', async (repositories) => {
    const { collection } = repositories;
    const written = [
      '9007199254740993',
      '0.10',
      '1e2',
      '1e99',
      '1e400',
      '1e-400',
      '1'.repeat(400),
      '01',
      '1',
      ' 1',
      '1 ',
      'NaN',
    ];
    const values = [...written, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, 1e21, 0.1 + 0.2, -0];
    for (const n of values) {
      const chunk = newChunk(String(n), { metadata: { n }, words: 'same' });
      await repositories.chunks.add(collection.projectId, collection.id, chunk);
    }
    const find = (filter: MetadataFilter) => foundBy(repositories, collection, ['same'], filter);
    const is = (value: number) => find({ type: 'eq', key: 'n', value });
    assert.deepEqual(await is(2 ** 53), ['9007199254740993', String(2 ** 53)]);
    assert.deepEqual(await is(0.1), ['0.10']);
    assert.deepEqual(await is(1), ['1']);
    for (const exact of [Number.MAX_VALUE, Number.MIN_VALUE, 1e21, 0.1 + 0.2]) {
      assert.deepEqual(await is(exact), [String(exact)]);
    }
    assert.deepEqual(await is(0), ['0']);
    assert.deepEqual(await find({ type: 'gt', key: 'n', value: 1e90 }), ['1e99', String(Number.MAX_VALUE)]);
  });

  it('a filter can compare the maximum number of values, in nested groups', async (repositories) => {
    const { collection } = repositories;
    for (const n of [1, 99, 100]) {
      const chunk = newChunk(String(n), { metadata: { n }, words: 'same' });
      await repositories.chunks.add(collection.projectId, collection.id, chunk);
    }
    const value = Array.from({ length: 100 }, (_, n) => n);
    const member: MetadataFilter = { type: 'in', key: 'n', value };
    const filter: MetadataFilter = {
      type: 'or',
      filters: Array.from({ length: 16 }, () => ({ type: 'and', filters: Array.from({ length: 16 }, () => member) })),
    };
    assert.deepEqual(await foundBy(repositories, collection, ['same'], filter), ['1', '99']);
  });

  it('a chunk inherits missing metadata from its record', async (repositories) => {
    const { collection } = repositories;
    for (const [lang, chunkLang] of [['en'], ['de'], ['en', 'de']]) {
      const record = await addRecord(repositories, collection, { metadata: { lang: lang ?? '', year: '2024' } });
      const job = await claim(repositories);
      assert.equal(job.id, record.id);
      const metadata = chunkLang === undefined ? {} : { lang: chunkLang };
      await repositories.jobs.addChunks(job, [newChunk(`${lang} ${chunkLang}`, { metadata, words: 'same' })]);
      await repositories.jobs.publish(job, { status: 'ready', numChunks: 1, report: {}, now: start });
    }
    const find = (filter: MetadataFilter) => foundBy(repositories, collection, ['same'], filter);
    assert.deepEqual(await find({ type: 'eq', key: 'lang', value: 'de' }), ['de undefined', 'en de']);
    assert.equal((await find({ type: 'gte', key: 'year', value: 2024 })).length, 3);
  });

  it('the ids of records and of their files select chunks, whatever entries the metadata have', async (repositories) => {
    const { collection } = repositories;
    const ids = new Map<string, string>();
    for (const [content, fileId] of [['one', 'file1'], ['two', 'file2'], ['three', 'file1'], ['four']] as const) {
      const file =
        fileId === undefined ? {} : { type: 'file' as const, fileId, content: JSON.stringify({ file_id: fileId }) };
      const record = await addRecord(repositories, collection, { metadata: { record_id: 'file2' }, ...file });
      ids.set(content, record.id);
      const job = await claim(repositories);
      await repositories.jobs.addChunks(job, [newChunk(content, { metadata: { file_id: 'file2' }, words: 'same' })]);
      await repositories.jobs.publish(job, { status: 'ready', numChunks: 1, report: {}, now: start });
    }
    const direct = newChunk('five', { metadata: { record_id: 'file2' }, words: 'same' });
    await repositories.chunks.add(collection.projectId, collection.id, direct);
    const idOf = (content: string) => ids.get(content) ?? '';
    const expected: ReadonlyArray<readonly [MetadataFilter, readonly string[]]> = [
      [{ type: 'eq', field: 'record_id', value: idOf('one') }, ['one']],
      [{ type: 'in', field: 'record_id', value: [idOf('one'), idOf('four'), 'x'] }, ['one', 'four']],
      [{ type: 'eq', field: 'record_id', value: 'file2' }, []],
      [{ type: 'ne', field: 'record_id', value: idOf('one') }, ['two', 'three', 'four', 'five']],
      [{ type: 'nin', field: 'record_id', value: [idOf('one'), idOf('two')] }, ['three', 'four', 'five']],
      [{ type: 'eq', field: 'file_id', value: 'file1' }, ['one', 'three']],
      [{ type: 'in', field: 'file_id', value: ['file1', 'file2'] }, ['one', 'two', 'three']],
      [{ type: 'eq', field: 'file_id', value: "' or 1 --" }, []],
      [{ type: 'ne', field: 'file_id', value: 'file1' }, ['two', 'four', 'five']],
      [{ type: 'nin', field: 'file_id', value: ['file1', 'file2'] }, ['four', 'five']],
    ];
    for (const [filter, contents] of expected) {
      assert.deepEqual(await foundBy(repositories, collection, ['same'], filter), contents, JSON.stringify(filter));
    }
  });

  it('a few matching chunks are found among many that do not match', async (repositories) => {
    const { collection } = repositories;
    const record = await addRecord(repositories, collection);
    const job = await claim(repositories);
    assert.equal(job.id, record.id);
    for (let from = 0; from < 3000; from += 500) {
      const chunks = Array.from({ length: 500 }, (_, n) =>
        newChunk(`chunk ${from + n}`, { ordinal: from + n, words: 'same', metadata: { n: from + n } }),
      );
      await repositories.jobs.addChunks(job, chunks);
    }
    await repositories.jobs.publish(job, { status: 'ready', numChunks: 3000, report: {}, now: start });
    const found = await foundBy(repositories, collection, ['same'], { type: 'gte', key: 'n', value: 2998 });
    assert.deepEqual(found, ['chunk 2998', 'chunk 2999']);
  });
}
