import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createLogger } from '../../../kernel/log/logger.ts';
import { until } from '../../../kernel/testing/until.ts';
import { findNearestChunks } from '../../../search/query/nearest-chunks.ts';
import { openVectorIndex } from '../../../search/vector-pages/open-vector-index.ts';
import { startPageBuilder } from '../../../search/vector-pages/page-builder.ts';
import { createPageSource } from '../../../search/vector-pages/page-source.ts';
import { createVectors, findNearest } from '../../../search/vector-pages/testing/random-vectors.fixture.ts';
import { checkVectors, correctCounts, removeVectorPages } from '../../database/check-vectors.ts';
import type { Database } from '../../database/database.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createCollectionRepositories } from './collection-repositories.ts';
import { openStoredVectors, type StoredVectors } from './testing/stored-vectors.fixture.ts';

const logger = createLogger('silent');
const dimensions = 64;
const hasFreeSpace = async () => true;

/** Runs the builder until it has nothing to do. */
async function build(database: Database, stored: StoredVectors): Promise<void> {
  const { pages } = createCollectionRepositories(database).vectors;
  const builder = startPageBuilder({ pages, hasFreeSpace, logger, pauseMs: 10, compactMs: 0 });
  await until(async () => !(await pages.hasUnpaged(await stored.find(), 2048)));
  await builder.close();
}

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`pages of vectors in ${name}`, () => {
    let temporary: TemporaryDatabase;
    let database: Database;
    before(async () => {
      temporary = await open();
      database = temporary.database;
    });
    after(() => temporary.close());

    /** Compares the nearest chunks with a scan of the vectors, by seq. */
    async function assertNearest(
      stored: StoredVectors,
      vectors: ReadonlyMap<number, Float32Array>,
      queries: readonly Float32Array[],
    ) {
      const repositories = createCollectionRepositories(database);
      const index = openVectorIndex({ source: createPageSource(repositories.vectors.pages), memory: 2 ** 26 });
      const deps = { ...repositories, index };
      const seqs = [...vectors.keys()];
      for (const query of queries) {
        const space = await stored.find();
        const near = await findNearestChunks(deps, { space, query, limit: 20, filter: undefined, others: [] });
        const exact = findNearest([...vectors.values()], query, 20).map((place) => seqs[place]);
        assert.deepEqual(
          near?.nearest.map(({ seq }) => seq),
          exact,
        );
      }
      await index.close();
    }

    it('vectors move into pages in the background, and questions find the nearest chunks before, meanwhile and afterwards', async () => {
      const stored = await openStoredVectors(database);
      const { vectors, queries } = createVectors('topics', { count: 4500, dimensions });
      const all = new Map<number, Float32Array>();
      const seqs = await stored.add(vectors);
      for (const [place, seq] of seqs.entries()) all.set(seq, vectors[place] as Float32Array);
      await assertNearest(stored, all, queries(5));
      await build(database, stored);
      const { pages } = createCollectionRepositories(database).vectors;
      assert.deepEqual(
        (await pages.list(await stored.find())).map(({ count }) => count),
        [1920, 1920],
      );
      await assertNearest(stored, all, queries(5));
      assert.deepEqual(await checkVectors(database, stored.collectionId), []);

      const others = queries(300);
      const changed = new Map(seqs.slice(0, 300).map((seq, place) => [seq, others[place] as Float32Array]));
      await stored.change(changed);
      for (const [seq, vector] of changed) all.set(seq, vector);
      await assertNearest(stored, all, [...queries(3), ...others.slice(0, 3)]);

      const removed = seqs.filter((_, place) => place % 8 < 5);
      await stored.remove(removed);
      for (const seq of removed) all.delete(seq);
      await assertNearest(stored, all, queries(5));
      const before = (await stored.find()).pageVersion;
      const builder = startPageBuilder({ pages, hasFreeSpace, logger, pauseMs: 10, compactMs: 0 });
      await until(async () => (await stored.find()).pageVersion > before);
      await builder.close();
      const kept = (await pages.list(await stored.find())).reduce((sum, { count }) => sum + count, 0);
      assert.equal(kept, await pages.countPaged(await stored.find()), 'deleted vectors have left the pages');
      await assertNearest(stored, all, queries(5));
      assert.deepEqual(await checkVectors(database, stored.collectionId), []);
    });

    it('a batch that is larger than a page is written into several pages at once', async () => {
      const stored = await openStoredVectors(database);
      const { vectors } = createCollectionRepositories(database);
      const { vectors: added } = createVectors('uniform', { count: 2100, dimensions: 8 });
      const seqs = await stored.add(added.slice(0, 2100));
      await database.write
        .updateTable('chunk_vector')
        .set({ change: (await stored.find()).lastChange })
        .where('collection_id', '=', stored.collectionId)
        .execute();
      await build(database, stored);
      const space = await stored.find();
      assert.deepEqual(
        [space.pagedChange, (await vectors.pages.list(space)).map(({ count }) => count)],
        [space.lastChange, [2048, 52]],
      );
      assert.equal(await vectors.pages.countPaged(space), seqs.length);
    });

    it('a check names lost vectors, other codes and damaged pages, and a repair removes the pages, which are built again', async () => {
      const stored = await openStoredVectors(database);
      const { vectors, queries } = createVectors('topics', { count: 2100, dimensions });
      const seqs = await stored.add(vectors);
      await build(database, stored);
      const { pages } = createCollectionRepositories(database).vectors;
      const check = () => checkVectors(database, stored.collectionId);
      const [page] = await pages.list(await stored.find());
      const bytes = await pages.read(page?.id ?? 0);
      assert.ok(bytes !== undefined);
      const write = (scan: Uint8Array, refine: Uint8Array) =>
        database.write
          .updateTable('vector_page')
          .set({ scan, refine })
          .where('id', '=', page?.id ?? 0)
          .execute();

      const other = Uint8Array.from(bytes.refine);
      other.set([(other.at(-1) as number) ^ 255], other.length - 1);
      await write(bytes.scan, other);
      assert.match((await check()).join(), /has 1 codes that do not agree with their vectors\.$/);
      await write(bytes.scan.subarray(0, 100), bytes.refine);
      assert.match((await check()).join(), /is damaged: the size of the page does not agree with its header\.$/);
      await sql`delete from vector_page where id = ${page?.id}`.execute(database.write);
      assert.match((await check()).join(), /lacks 1920 vectors\.$/);

      await removeVectorPages(database, stored.collectionId);
      await build(database, stored);
      assert.deepEqual(await check(), []);
      await assertNearest(stored, new Map(seqs.map((seq, place) => [seq, vectors[place] as Float32Array])), queries(3));
    });

    it('the check finds wrong counts of vectors, and its repair counts them again', async () => {
      const stored = await openStoredVectors(database);
      await stored.add(createVectors('uniform', { count: 3, dimensions }).vectors);
      const check = () => checkVectors(database, stored.collectionId);
      assert.deepEqual(await check(), []);
      await database.write
        .updateTable('collection_vector')
        .set({ num_embedded: 4, num_refused: 1 })
        .where('collection_id', '=', stored.collectionId)
        .execute();
      assert.deepEqual(await check(), ['the stored counts are 4 embedded and 1 refused chunks, but there are 3 and 0']);
      await correctCounts(database, stored.collectionId);
      assert.deepEqual(await check(), []);
    });
  });
}
