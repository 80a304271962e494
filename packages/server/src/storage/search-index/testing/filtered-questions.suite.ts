import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import type { NewChunk } from '../../../stores/collections/chunks/chunk-repository.ts';
import { countFieldTerms } from '../../../stores/search/analysis/field-terms.ts';
import type { ChunkFilter } from '../../../stores/search/chunk-index.ts';
import type { Database } from '../../database/database.ts';
import { insertCollection, insertRecord } from '../../database/testing/insert-rows.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { findVisibleChunks } from '../../database/visible-chunks.ts';
import { createChunkRepository } from '../../repositories/records/chunk-repository.ts';
import { prepareChunks, readOwner } from '../../repositories/records/chunk-rows.ts';
import { createRecordRepository } from '../../repositories/records/record-repository.ts';
import { type FilteredRow, meetsByHand } from './filter-by-hand.ts';
import { createRandom, emptyChunk } from './full-text-corpus.suite.ts';
import { createRefresher } from './record-refresher.suite.ts';
import { createSegmentHarness, type MergeParts, vocabulary } from './segment-harness.ts';

const newId = createNewId();
const projectId = emptyChunk.project_id;
const files = ['file1', 'file2', 'file3'];
const keys = ['a', 'b', 'lang', '__proto__', 'ключ', 'n\0l'];
/** Values that look alike, or that the two databases and JavaScript read differently. */
const alike = [
  ...[1, '1', '1.0', '01', ' 1', '1e0', true, 'true', 'True', 0, -0, '-0', '0.0', '', null, false, 'false'],
  ...[0.1, '0.1', 0.1 + 0.2, '0.3', '0.30000000000000004', 1e21, '1e21', '1000000000000000000000'],
  ...['9007199254740993', 9007199254740992, 5e-324, '1e99', 1e300, '1e400', `${'1'.repeat(41)}`],
  ...[5, 5.000000000000001, '5', '5.0', '05', -5, 1e308, -1e308, -2.5, 2 ** 41, 2 ** 53 + 2, 1700000000000],
  ...[
    'a\0b',
    'a',
    'a\ufffdb',
    'a\ud800b',
    'x'.repeat(200),
    `${'x'.repeat(150)}y`,
    '世界',
    'é',
    'e\u0301',
    'a\u0001b',
    '2024-05-01',
    '2025-01',
  ],
  ...['a\uffff', 'a😀', 'a\ue000', '\ud7ff', 'ab'],
];
const numbers = [...alike.filter((value) => typeof value === 'number'), 0.2, 1e22];
const conditionTypes = [
  ...(['eq', 'eq', 'in', 'ne', 'nin', 'gt', 'gte', 'lt', 'lte', 'after', 'before'] as const),
  ...(['contains', 'not_contains', 'starts_with', 'ends_with', 'not_empty', 'empty'] as const),
];
const filterable = alike.filter((value) => value !== null);
const lists: unknown[] = [[1], { a: 1 }, ['1']];

/** Tests that a question with a filter finds what the SQL condition selects from the whole ranking. */
export function testFilteredQuestions(
  name: string,
  { open, partsOf }: { open: () => Promise<TemporaryDatabase>; partsOf: (temporary: TemporaryDatabase) => MergeParts },
): void {
  describe(name, () => {
    let temporary: TemporaryDatabase;
    let merge: (collectionId: string) => Promise<unknown>;
    before(async () => {
      temporary = await open();
      merge = createSegmentHarness(temporary, partsOf(temporary)).merge;
    });
    after(() => temporary.close());

    test('a filter selects the same chunks, order and scores as the condition on the whole ranking', async () => {
      const refresh = createRefresher(temporary.database);
      let comparisons = 0;
      let found = 0;
      for (let seed = 1; seed <= 6; seed++) {
        const collection = await createFilteredCollection(temporary.database, seed);
        for (let round = 0; round < 20; round++) {
          if (round % 13 === 12) await merge(collection.id);
          else await collection.changeSomehow(round);
          if (round % 4 === 3) await refresh();
          for (let n = 0; n < 6; n++) found += await collection.compare();
          comparisons += 6;
        }
        assert.deepEqual(await temporary.database.searchIndex.check(temporary.database.read, collection.id), []);
      }
      assert.equal(comparisons, 720);
      assert.ok(found > 2000, `${found} chunks were found`);
    });
  });
}

async function createFilteredCollection(database: Database, seed: number) {
  const { read, write, searchIndex, dialect } = database;
  const id = await insertCollection(database, { capacity: 100_000 });
  const random = createRandom(seed);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item; // none is empty
  const records = createRecordRepository(database);
  const chunks = createChunkRepository(database);
  const recordIds: string[] = [];

  const entries = (values: readonly unknown[]) =>
    Object.fromEntries(Array.from({ length: below(4) }, () => [pick(keys), pick(values)]));
  // The columns of PostgreSQL store JSON as text, which cannot hold NUL as it is, but as an escape.
  const texts = alike.filter((value) => typeof value === 'string');
  const words = () => Array.from({ length: 1 + below(6) }, () => pick(vocabulary.slice(0, 6))).join(' ');

  const newChunk = (): NewChunk => {
    const content = words();
    const metadata = entries([...alike, ...lists]);
    const rest = { ordinal: 0, question: null, answer: null, numTokens: 1, locator: null, createdAt: 1 };
    return { ...rest, id: newId('chunk'), content, metadata, words: countFieldTerms({ content }) };
  };
  async function add(): Promise<void> {
    const columns = { metadata: JSON.stringify(entries(texts)), file_id: random() < 0.5 ? pick(files) : null };
    const recordId = random() < 0.3 ? null : await insertRecord(database, id, columns);
    if (recordId !== null) recordIds.push(recordId);
    const added = Array.from({ length: 1 + below(30) }, newChunk);
    const place = { projectId, collectionId: id, recordId, generation: 1 };
    const owner = await write.transaction().execute((db) => readOwner(db, recordId));
    const { insert } = await prepareChunks(database, { place, owner, chunks: added });
    await write.transaction().execute(insert);
  }
  /** Indexes some chunks again without filter terms. */
  async function addAgain(): Promise<void> {
    const rows = await read.selectFrom('chunk').select(['seq', 'content']).where('collection_id', '=', id).execute();
    const some = rows
      .filter(() => random() < 0.1)
      .map(({ seq, content }) => ({ seq, words: countFieldTerms({ content }) }));
    await write.transaction().execute(async (db) => {
      await searchIndex.remove(
        db,
        id,
        some.map(({ seq }) => seq),
      );
      await searchIndex.add(db, id, some);
    });
  }
  const changeRecord = () =>
    records.change(
      { projectId, collectionId: id, recordId: pick(recordIds) },
      { metadata: entries(texts) as Record<string, string>, updatedAt: 2 },
    );
  async function changeChunk(): Promise<void> {
    const rows = await read.selectFrom('chunk').select('id').where('collection_id', '=', id).execute();
    const key = { projectId, collectionId: id, chunkId: pick(rows).id };
    if (random() < 0.2) await chunks.remove(key);
    else await chunks.change(key, { metadata: entries([...alike, ...lists]), updatedAt: 2 });
  }
  async function changeSomehow(round: number): Promise<void> {
    if (round < 3 || random() < 0.4) return add();
    if (random() < 0.1) return addAgain();
    await (random() < 0.3 && recordIds.length > 0 ? changeRecord() : changeChunk());
  }

  const idCondition = (): ChunkFilter => {
    const field = pick(['record_id', 'file_id'] as const);
    const anyId = () => pick(['unknown', ...(field === 'record_id' ? recordIds : files)]);
    if (random() < 0.5) return { type: pick(['eq', 'ne'] as const), field, value: anyId() };
    return { type: pick(['in', 'nin'] as const), field, value: Array.from({ length: 1 + below(4) }, anyId) };
  };
  const condition = (): ChunkFilter => {
    if (random() < 0.2) return idCondition();
    const key = pick(keys);
    const comparable = () => pick(filterable);
    const text = () => pick(texts.filter((value) => value !== ''));
    const type = pick(conditionTypes);
    switch (type) {
      case 'eq':
      case 'ne':
        return { type, key, value: comparable() };
      case 'in':
      case 'nin':
        return { type, key, value: Array.from({ length: 1 + below(4) }, comparable) };
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        return { type, key, value: pick([pick(numbers), text()]) };
      case 'after':
      case 'before':
        return { type, key, value: pick(['2024-05-01', '2025-01', '2024']) };
      case 'empty':
      case 'not_empty':
        return { type, key };
      default:
        return { type, key, value: pick([text(), '1', '0', 'a', 'x']) };
    }
  };
  const filter = (depth: number): ChunkFilter => {
    if (depth === 0 || random() < 0.4) return condition();
    const filters = Array.from({ length: 1 + below(3) }, () => filter(depth - 1));
    return { type: pick(['and', 'or'] as const), filters };
  };
  return {
    id,
    changeSomehow,
    /** Returns the number of chunks that were found. */
    async compare(): Promise<number> {
      const chosen = filter(2);
      const question = { collectionId: id, words: ['red', pick(vocabulary.slice(0, 6))] };
      const whole = await searchIndex.ask(read, { ...question, limit: 10_000 });
      const seqs = whole.map(({ seq }) => seq);
      const visible = await findVisibleChunks(read, seqs, { dialect, filter: chosen });
      const expected = whole.filter(({ seq }) => visible.has(seq));
      for (const [seq, row] of await readRows(seqs)) {
        if (visible.has(seq) === meetsByHand(chosen, row)) continue;
        assert.fail(`${dialect} ${visible.has(seq)} ${JSON.stringify(chosen)} ${JSON.stringify(row)}`);
      }
      for (const limit of [3, 10_000]) {
        const found = await searchIndex.ask(read, { ...question, limit, filter: chosen });
        assert.deepEqual(found, expected.slice(0, limit), `${dialect} ${JSON.stringify(chosen)}`);
      }
      return expected.length;
    },
  };

  async function readRows(seqs: readonly number[]): Promise<ReadonlyArray<readonly [number, FilteredRow]>> {
    const rows = await read
      .selectFrom('chunk')
      .leftJoin('record', 'record.id', 'chunk.record_id')
      .select(['chunk.seq', 'chunk.metadata', 'chunk.record_id', 'record.file_id', 'record.metadata as ofRecord'])
      .where('chunk.seq', 'in', seqs)
      .execute();
    return rows.map(({ seq, metadata, record_id: recordId, file_id: fileId, ofRecord }) => {
      const entries = { ...JSON.parse(ofRecord ?? '{}'), ...JSON.parse(metadata) };
      return [seq, { recordId, fileId, entries }] as const;
    });
  }
}
