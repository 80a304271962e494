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

const one = (type: string, key: string, value: unknown) => ({ type, key, value }) as ChunkFilter;
const and = (...filters: ChunkFilter[]) => ({ type: 'and', filters }) as ChunkFilter;
const or = (...filters: ChunkFilter[]) => ({ type: 'or', filters }) as ChunkFilter;

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
  [and(one('gte', 'n', 1), or(one('eq', 'ok', true), one('eq', 'lang', 'EN'))), ['one', 'three']],
  [or(one('eq', 'lang', 'de'), and(one('ne', 'n', 1), one('eq', 'text', 'nine'))), ['two', 'three']],
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
