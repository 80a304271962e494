import { after, before, describe } from 'node:test';
import { sql } from 'kysely';
import { testChunkBatches } from '../../../../stores/collections/chunks/testing/chunk-batches.suite.ts';
import { testChunkRepository } from '../../../../stores/collections/chunks/testing/chunk-repository.suite.ts';
import { testMetadataFilter } from '../../../../stores/collections/chunks/testing/metadata-filter.suite.ts';
import { testRecordRepository } from '../../../../stores/collections/records/testing/record-repository.suite.ts';
import { testRecordRowRepository } from '../../../../stores/collections/records/testing/record-row-repository.suite.ts';
import { testCollectionRepository } from '../../../../stores/collections/testing/collection-repository.suite.ts';
import { newId, type OpenedRepositories } from '../../../../stores/collections/testing/fixtures.suite.ts';
import { testRecordJobRepository } from '../../../../stores/ingestion/testing/record-job-repository.suite.ts';
import { testVectorCounts } from '../../../../stores/search/testing/vector-counts.suite.ts';
import { testVectorRepository } from '../../../../stores/search/testing/vector-repository.suite.ts';
import { testVectorSets } from '../../../../stores/search/testing/vector-sets.suite.ts';
import type { TemporaryDatabase } from '../../../database/testing/open-temporary-database.ts';
import { createProjectRepository } from '../../project-repository.ts';
import { createCollectionRepositories } from '../collection-repositories.ts';
import { recount } from '../vector-sets.ts';

function openRepositories({ database, close }: TemporaryDatabase): OpenedRepositories {
  const projects = createProjectRepository(database);
  return {
    ...createCollectionRepositories(database),
    async newProject() {
      const id = newId('project');
      await projects.addProject({ id, name: id, createdAt: 1 }, { most: 1_000 });
      return id;
    },
    async enlarge({ id, collectionId }, chunks) {
      const { write } = database;
      const more = { num_chunks: sql<number>`num_chunks + ${chunks}` };
      await write.updateTable('record').set(more).where('id', '=', id).execute();
      const segment = {
        state: 'live',
        position: 0,
        removals: 0,
        pages: 0,
        header: new Uint8Array(0),
        analysis: 1,
      } as const;
      await write
        .insertInto('index_segment')
        .values({ ...segment, collection_id: collectionId, chunks })
        .execute();
    },
    async countRows(collectionId) {
      const rows = await Promise.all([
        database.read.selectFrom('collection').select('id').where('id', '=', collectionId).execute(),
        database.read.selectFrom('record').select('id').where('collection_id', '=', collectionId).execute(),
        database.read.selectFrom('chunk').select('id').where('collection_id', '=', collectionId).execute(),
        database.read.selectFrom('record_row').select('id').where('collection_id', '=', collectionId).execute(),
      ]);
      // The query covers all collections, because no key may remain of a deleted chunk.
      const keysLeft = await database.read
        .selectFrom('pair_key')
        .select('key')
        .where('seq', 'not in', (select) => select.selectFrom('chunk').select('seq'))
        .execute();
      return rows.flat().length + keysLeft.length;
    },
    close,
  };
}

/** Tests the rows of collections, records, chunks and vectors in one of the databases. */
export function testCollections(name: string, open: () => Promise<TemporaryDatabase>): void {
  describe(`collections, records and chunks in ${name}`, () => {
    let temporary: TemporaryDatabase;
    let opened: OpenedRepositories;
    before(async () => {
      temporary = await open();
      opened = openRepositories(temporary);
    });
    after(() => opened.close());

    testCollectionRepository(() => opened);
    testRecordRepository(() => opened);
    testRecordJobRepository(() => opened);
    testChunkBatches(() => opened);
    testRecordRowRepository(() => opened);
    testChunkRepository(() => opened);
    testVectorRepository(() => opened);
    testVectorCounts(() => ({ ...opened, recount: (key) => recount(temporary.database.read, key) }));
    testVectorSets(() => opened);
    testMetadataFilter(() => opened);
  });
}
