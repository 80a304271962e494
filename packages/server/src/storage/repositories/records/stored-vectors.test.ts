import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '../../../platform/log/logger.ts';
import { findNearestChunks } from '../../../stores/search/query/retrieve.ts';
import { openVectorIndex } from '../../../stores/search/vector-codes/open-vector-index.ts';
import { createVectors, findNearest } from '../../../stores/search/vector-codes/testing/random-vectors.fixture.ts';
import { checkVectors, correctCounts } from '../../check/check-database.ts';
import type { Database } from '../../database/database.ts';
import type { TemporaryDatabase } from '../../database/testing/open-temporary-database.ts';
import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { createCollectionRepositories } from './collection-repositories.ts';
import { openStoredVectors } from './testing/stored-vectors.fixture.ts';

const logger = createLogger('silent');
const dimensions = 64;

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`stored vectors in ${name}`, () => {
    let temporary: TemporaryDatabase;
    let database: Database;
    before(async () => {
      temporary = await open();
      database = temporary.database;
    });
    after(() => temporary.close());

    it('questions find the nearest chunks among added, changed and left vectors, whether the index has read them before or not', async () => {
      const stored = await openStoredVectors(database);
      const { vectors } = createCollectionRepositories(database);
      const openIndex = () =>
        openVectorIndex({ readVectors: vectors.readAfter, memory: 2 ** 26, logger, waitMs: 60_000 });
      const known = openIndex();
      const created = createVectors('topics', { count: 4500, dimensions });
      const all = new Map<number, Float32Array>();

      async function assertNearest(queries: readonly Float32Array[]) {
        const fresh = openIndex();
        const seqs = [...all.keys()];
        const space = await stored.find();
        assert.equal(space.count, all.size);
        for (const index of [known, fresh]) {
          assert.equal(await index.load(space), true);
          for (const query of queries) {
            const asked = { space, query, limit: 20, filter: undefined, others: [] };
            const near = await findNearestChunks({ vectors, index }, asked);
            const exact = findNearest([...all.values()], query, 20).map((place) => seqs[place]);
            assert.deepEqual(
              near?.nearest.map(({ seq }) => seq),
              exact,
            );
          }
        }
        await fresh.close();
      }

      const seqs = await stored.add(created.vectors);
      for (const [place, seq] of seqs.entries()) all.set(seq, created.vectors[place] as Float32Array);
      await assertNearest(created.queries(5));

      const others = created.queries(300);
      const changed = new Map(seqs.slice(0, 300).map((seq, place) => [seq, others[place] as Float32Array]));
      await stored.change(changed);
      for (const [seq, vector] of changed) all.set(seq, vector);
      await assertNearest([...created.queries(3), ...others.slice(0, 3)]);

      const removed = seqs.filter((_, place) => place % 8 < 5);
      await stored.remove(removed);
      for (const seq of removed) all.delete(seq);
      await assertNearest(created.queries(5));
      await known.close();
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
