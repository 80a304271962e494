import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RecordListQuery } from '@quartermaster/contract';
import { CompiledQuery } from 'kysely';
import { addCollection, newChunk, recordOf, start } from '../../../stores/collections/testing/fixtures.suite.ts';
import { openTemporaryDatabase, type TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { selectVisibleVectors } from '../../search-index/compare-vectors.ts';
import { type CollectionRepositories, createCollectionRepositories } from './collection-repositories.ts';
import { type ObservedDatabase, observeStatements } from './testing/query-plans.fixture.ts';

describe('the query plans of SQLite', () => {
  let temporary: TemporaryDatabase;
  let observed: ObservedDatabase;
  let repositories: CollectionRepositories;

  before(async () => {
    temporary = await openTemporaryDatabase();
    observed = observeStatements(temporary.database);
    repositories = createCollectionRepositories(observed.database);
  });
  after(() => temporary.close());

  /** Returns the lines of SQLite's query plans that concern the table, for the statements that the work executes. */
  async function accessTo(table: string, work: () => Promise<unknown>): Promise<string[]> {
    await observed.plans();
    await work();
    const lines = (await observed.plans()).flatMap(({ plan }) => plan);
    return lines.filter((line) => line.startsWith(`SEARCH ${table} `) || line.startsWith(`SCAN ${table}`));
  }

  /** Adds a collection with five chunks, and returns their positions and vectors. */
  async function addChunks() {
    const { chunks, vectors } = repositories;
    const collection = await addCollection(repositories);
    await recordOf(repositories, collection, ['a', 'b', 'c']);
    for (const content of ['d', 'e']) await chunks.add(collection.projectId, collection.id, newChunk(content));
    await vectors.adopt(collection.id, 'model');
    const missing = await vectors.missing({ collectionId: collection.id, slot: 0 }, { after: '', limit: 100, now: 0 });
    const seqs = missing.map(({ seq }) => seq);
    const embedded = Float32Array.from([1, 2]);
    await vectors.save(
      { collectionId: collection.id, slot: 0 },
      'model',
      seqs.map((seq) => ({ seq, updatedAt: start, embedded })),
    );
    return { collection, seqs };
  }

  it('a search by words sends one message to a thread, which returns the chunks too', async () => {
    const { collection, seqs } = await addChunks();
    const { chunks } = repositories;
    const { projectId, id: collectionId } = collection;
    observed.executed();
    const [found, ...others] = await chunks.rank({ projectId, collectionId, words: ['a'], limit: 3, withChunks: true });
    assert.equal(observed.executed().length, 0, 'statements besides the message');
    assert.deepEqual([found?.chunk, others], [(await chunks.fetch([collectionId], seqs)).get(found?.seq ?? 0), []]);
  });

  it('a page of the chunks of a collection or a record is read by the ids of the page', async () => {
    const { collection } = await addChunks();
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const record = (await repositories.records.list(of.projectId, of.collectionId, {}))?.items[0];
    for (const key of [of, { ...of, recordId: record?.id ?? '' }]) {
      const list = async () => assert.ok(((await repositories.chunks.list(key, {}))?.items.length ?? 0) >= 3);
      const joined = (await accessTo('chunk', list)).at(-1);
      assert.equal(joined, 'SEARCH chunk USING INDEX chunk_of_collection (collection_id=? AND id=?)');
    }
  });

  it('a list of edited chunks, and their count, read the index of edited chunks', async () => {
    const { collection } = await addChunks();
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const list = () => repositories.chunks.list(of, { edited: true, count: true, limit: 1, after: 'chnk' });
    const lines = await accessTo('chunk', list);
    const index = 'SEARCH chunk USING INDEX chunk_edited (collection_id=?';
    assert.ok(lines.length >= 2 && lines.filter((line) => line.startsWith(index)).length >= 2, lines.join('\n'));
  });

  it('a collection with its counts, a record and a page of named chunks are read by one statement each, a list of collections by two', async () => {
    const { collection } = await addChunks();
    const { projectId, id: collectionId } = collection;
    const [record] = (await repositories.records.list(projectId, collectionId, {})).items;
    const reads = {
      collection: () => repositories.collections.find(projectId, collectionId),
      record: () => repositories.records.find({ projectId, collectionId, recordId: record?.id ?? '' }),
      collections: () => repositories.collections.list(projectId, {}),
      chunks: () => repositories.chunks.list({ projectId, collectionId }, {}),
    };
    const counts = new Map<string, number>();
    for (const [name, read] of Object.entries(reads)) {
      observed.executed();
      assert.ok(await read());
      // A subquery is noted, too.
      const parts = observed.executed();
      counts.set(name, parts.filter((part) => !parts.some((other) => other !== part && other.includes(part))).length);
    }
    assert.deepEqual(Object.fromEntries(counts), { collection: 1, record: 1, collections: 2, chunks: 1 });
  });

  it('a request reads boxes only if it asks for the boxes of a chunk', async () => {
    const { collection, seqs } = await addChunks();
    const { chunks } = repositories;
    const of = { projectId: collection.projectId, collectionId: collection.id };
    const readsBoxes = (statement: string) => statement.includes('scan_boxes') || statement.includes('"chunk".*');
    observed.executed();
    const [chunk] = (await chunks.list(of, {}))?.items ?? [];
    const key = { ...of, chunkId: chunk?.id ?? '' };
    assert.deepEqual(await chunks.find(key), chunk);
    assert.equal((await chunks.fetch([collection.id], seqs)).size, 5);
    const others = observed.executed();
    assert.ok(others.length >= 3);
    assert.deepEqual(others.filter(readsBoxes), []);
    assert.deepEqual(await chunks.findBoxes(key), []);
    assert.equal(observed.executed().filter(readsBoxes).length, 1);
  });

  it('a search reads its chunks by primary key, not along an index of their collection', async () => {
    const { collection, seqs } = await addChunks();
    const fetch = async () => assert.equal((await repositories.chunks.fetch([collection.id], seqs)).size, 5);
    assert.deepEqual(await accessTo('chunk', fetch), ['SEARCH chunk USING INTEGER PRIMARY KEY (rowid=?)']);
  });

  it('a comparison of vectors sends one message to a thread, which reads chunks and vectors by primary key', async () => {
    const { collection, seqs } = await addChunks();
    const space = await repositories.vectors.find(collection.id);
    assert.ok(space);
    const near = { seqs: Float64Array.from(seqs), bounds: new Float64Array(seqs.length).fill(9), rest: 0 };
    const query = Float32Array.from([1, 0]);
    observed.executed();
    const comparison = { space, query, near, limit: 2, filter: undefined, others: seqs };
    const { nearest, others } = await repositories.vectors.compare(comparison);
    assert.equal(nearest.length + others.length, 5);
    assert.equal(observed.executed().length, 0, 'statements besides the message');
    const sql = selectVisibleVectors({ table: 'second_chunk_vector', condition: null });
    const explain = CompiledQuery.raw(`explain query plan ${sql}`, ['[]', collection.id, 0]);
    const { rows } = await temporary.database.read.executeQuery<{ readonly detail: string }>(explain);
    assert.deepEqual(
      rows.map(({ detail }) => detail),
      [
        'SCAN wanted VIRTUAL TABLE INDEX 1:',
        'SEARCH chunk USING INTEGER PRIMARY KEY (rowid=?)',
        'SEARCH record USING INDEX sqlite_autoindex_record_1 (id=?) LEFT-JOIN',
        'SEARCH stored USING INTEGER PRIMARY KEY (rowid=?)',
      ],
    );
  });

  it('each page of chunks without vectors starts where the previous page ended', async () => {
    const { vectors } = repositories;
    const { collection } = await addChunks();
    await vectors.prepare(collection.id, 'other');
    await observed.plans();
    const next = { collectionId: collection.id, slot: 1 } as const;
    const [first] = await vectors.missing(next, { after: '', limit: 1, now: 0 });
    assert.equal((await vectors.missing(next, { after: first?.id ?? '', limit: 100, now: 0 })).length, 4);
    const lines = (await observed.plans()).flatMap(({ plan }) => plan);
    assert.ok(!lines.some((line) => line.includes('TEMP B-TREE')), String(lines));
    assert.equal(
      lines.filter((line) => line.startsWith('SEARCH chunk USING')).at(-1),
      'SEARCH chunk USING INDEX chunk_of_collection (collection_id=? AND id>?)',
    );
  });

  it('a page of failed texts, and asking for them again, read the index of failed texts', async () => {
    const { vectors } = repositories;
    const { collection } = await addChunks();
    const of = { collectionId: collection.id, slot: 0 } as const;
    const index = 'SEARCH chunk_vector USING INDEX chunk_vector_refused (collection_id=? AND change>?)';
    const byKey = 'SEARCH chunk_vector USING INTEGER PRIMARY KEY (rowid=?)';
    const list = () => vectors.listFailures(of, {});
    assert.deepEqual(await accessTo('chunk_vector', list), [index]);
    await list();
    const lines = (await observed.plans()).flatMap(({ plan }) => plan);
    assert.ok(!lines.some((line) => line.includes('TEMP B-TREE')), String(lines));
    // A cursor is found by the key of its chunk.
    assert.deepEqual(await accessTo('chunk_vector', () => vectors.listFailures(of, { after: 'unknown' })), [byKey]);
    assert.deepEqual(await accessTo('chunk_vector', () => vectors.retryFailures(collection.id, start)), [index]);
  });

  it('vectors of equal texts are found along the index of their keys', async () => {
    const { collection } = await addChunks();
    await observed.plans();
    const texts = new Map([[1, 'green tea']]);
    await repositories.vectors.copies({ projectId: collection.projectId, texts });
    const lines = (await observed.plans()).flatMap(({ plan }) => plan);
    for (const index of ['chunk_vector_of_text', 'second_chunk_vector_of_text']) {
      assert.ok(lines.includes(`SEARCH same USING INDEX ${index} (text_key=?)`), lines.join('\n'));
    }
    assert.ok(!lines.some((line) => /SCAN (chunk|same|source|collection_vector)/.test(line)), lines.join('\n'));
  });

  it('the count of a list of records reads only the index of their statuses', async () => {
    const { collection } = await addChunks();
    await recordOf(repositories, collection, ['f']);
    const { projectId, id } = collection;
    const list = (query: RecordListQuery) => () =>
      repositories.records.list(projectId, id, { ...query, limit: 1, count: true });
    const index = 'SEARCH record USING COVERING INDEX record_of_status';
    assert.equal((await accessTo('record', list({}))).at(-1), `${index} (collection_id=?)`);
    assert.equal(
      (await accessTo('record', list({ status: 'ready' }))).at(-1),
      `${index} (collection_id=? AND status=?)`,
    );
  });

  it('the count of waiting records reads only one index', async () => {
    const { projectId } = await addCollection(repositories);
    assert.deepEqual(await accessTo('record', () => repositories.records.areWaiting(projectId, 100)), [
      'SEARCH record USING COVERING INDEX record_of_turn (project_id=?)',
    ]);
  });

  it('the count of the vectors of records reads the chunks of these records', async () => {
    const { collection } = await addChunks();
    const of = { collectionId: collection.id, slot: 0, model: 'model' } as const;
    const lines = await accessTo('chunk', () => repositories.vectors.countOfRecords(of, ['none']));
    assert.deepEqual(lines, ['SEARCH chunk USING COVERING INDEX chunk_of_record (record_id=? AND generation=?)']);
  });

  it('the count of direct chunks of listed collections does not read those of other collections', async () => {
    const { collection } = await addChunks();
    for (let more = 1; more < 20; more++) await addCollection(repositories, { projectId: collection.projectId });
    const list = async () => {
      const page = await repositories.collections.list(collection.projectId, {});
      assert.deepEqual(page?.items.map(({ numChunks }) => numChunks).sort(), [...Array(19).fill(0), 5]);
    };
    assert.deepEqual(await accessTo('chunk', list), ['SEARCH chunk USING INDEX chunk_made_directly (collection_id=?)']);
  });

  it('the states of the vectors of listed collections are read from the rows of the collections, and no vector', async () => {
    const { collection } = await addChunks();
    const list = async () => {
      const page = await repositories.collections.list(collection.projectId, {});
      assert.deepEqual(
        page?.items.map(({ vectors }) => vectors?.numEmbedded),
        [5],
      );
    };
    assert.deepEqual(await accessTo('chunk_vector', list), []);
    const [row, ...others] = await accessTo('collection_vector', list);
    assert.match(row ?? '', /^SEARCH collection_vector USING INDEX \S+ \(collection_id=\?\) LEFT-JOIN$/);
    assert.deepEqual(others, []);
  });

  it('the end of a slice looks for a failed text along the index of failed texts', async () => {
    await addChunks();
    const { vectors } = repositories;
    const lease = { token: 'a', now: start, leaseUntil: start + 10 };
    const end = async () => {
      const job = await vectors.claimBackfill({ kind: 'embed', afterProject: '', model: 'model', ...lease });
      assert.ok(job);
      await vectors.endBackfill(job, { kind: 'done', failure: null });
    };
    const lines = new Set(await accessTo('chunk_vector', end));
    assert.deepEqual(
      [...lines],
      ['SEARCH chunk_vector USING INDEX chunk_vector_refused (collection_id=? AND change>?)'],
    );
  });
});
