import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { maxCounted, type RecordListQuery } from '@quartermaster/contract';
import { createNewId } from '../../platform/identifier.ts';
import type { Page } from '../../platform/page.ts';
import { insertCollection, insertRecord } from '../database/testing/insert-rows.ts';
import type { TemporaryDatabase } from '../database/testing/open-temporary-database.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { artifactPurpose } from './artifact-repository.ts';
import { createFileRepository } from './file-repository.ts';
import { createCollectionRepositories } from './records/collection-repositories.ts';

const newId = createNewId();

for (const [name, open] of Object.entries(temporaryDatabases)) {
  describe(`counts of lists: ${name}`, () => {
    let temporary: TemporaryDatabase;
    before(async () => {
      temporary = await open();
    });
    after(() => temporary.close());

    /** Adds `number` files with these columns. */
    async function addFiles(number: number, columns: { project_id: string; name?: string; purpose?: string }) {
      const common = { name: 'a.txt', purpose: 'record_file', extension: 'txt', bytes: 1, sha256: '', created_at: 1 };
      const blob = {
        id: newId('blob'),
        project_id: columns.project_id,
        sha256: newId('blob'),
        bytes: 1,
        created_at: 1,
      };
      await temporary.database.write
        .insertInto('blob')
        .values({ ...blob, state: 'live' })
        .execute();
      const rows = Array.from({ length: number }, () => {
        return { ...common, id: newId('file'), blob_id: blob.id, state: 'live' as const, ...columns };
      });
      for (let at = 0; at < rows.length; at += 1000) {
        await temporary.database.write
          .insertInto('file')
          .values(rows.slice(at, at + 1000))
          .execute();
      }
      return rows.map(({ id }) => id);
    }

    test('a count includes the files of the project that the filters select, and no artifact or deleted file', async () => {
      const [project, other] = [newId('project'), newId('project')];
      const files = createFileRepository(temporary.database);
      await addFiles(3, { project_id: project, name: 'Report.txt' });
      const [deleted] = await addFiles(2, { project_id: project, purpose: 'document_file' });
      await addFiles(4, { project_id: project, purpose: artifactPurpose });
      await addFiles(5, { project_id: other });
      const count = async (query: object) => (await files.list(project, { ...query, limit: 1, count: true })).total;
      assert.deepEqual(await count({}), { count: 5, isExact: true });
      assert.deepEqual(await count({ name: 'rePORT' }), { count: 3, isExact: true });
      assert.deepEqual(await count({ purposes: ['document_file'] }), { count: 2, isExact: true });
      assert.deepEqual(
        await count({ after: deleted }),
        { count: 5, isExact: true },
        'a cursor does not change the count',
      );
      await temporary.database.write
        .updateTable('file')
        .set({ state: 'deleting' })
        .where('id', '=', deleted ?? '')
        .execute();
      assert.deepEqual(await count({}), { count: 4, isExact: true });
      assert.equal((await files.list(project, { limit: 1 })).total, undefined);
    });

    test('a count ends at the limit counted_objects and is then marked as not exact', async () => {
      const project = newId('project');
      const files = createFileRepository(temporary.database);
      const [oldest] = await addFiles(1, { project_id: project, name: 'oldest.txt' });
      await addFiles(maxCounted - 1, { project_id: project });
      const count = async (query = {}) => (await files.list(project, { ...query, limit: 1, count: true })).total;
      assert.deepEqual(await count(), { count: maxCounted, isExact: true });
      await addFiles(1, { project_id: project, name: 'newest.txt' });
      await addFiles(1, { project_id: project, name: 'newest.txt' });
      assert.deepEqual(await count(), { count: maxCounted, isExact: false });
      assert.deepEqual(
        await count({ name: 'est.txt', after: oldest }),
        { count: 2, isExact: false },
        'the newest are read',
      );
    });

    test('the count of records equals a naive count, for every filter', async () => {
      const { database } = temporary;
      const { records, collections } = createCollectionRepositories(database);
      const project_id = newId('project');
      const collectionId = await insertCollection(database, { project_id });
      const elsewhere = await insertCollection(database, { project_id });
      const naive: Array<{ status: string; title: string }> = [];
      for (const [index, status] of ['ready', 'error', 'creating', 'ready', 'deleting', 'partial', 'ready'].entries()) {
        const row = { status, title: index % 2 === 0 ? 'even' : 'odd' };
        await insertRecord(database, collectionId, { project_id, ...row });
        if (status !== 'deleting') naive.push(row);
      }
      await insertRecord(database, elsewhere, { project_id, title: 'even' });
      const statuses = [undefined, 'creating', 'ready', 'partial', 'error'] as const;
      for (const status of statuses) {
        for (const title of [undefined, 'even', 'odd']) {
          const query: RecordListQuery = {
            ...(status === undefined ? {} : { status }),
            ...(title === undefined ? {} : { name: title }),
          };
          const page = await records.list(project_id, collectionId, { ...query, limit: 1, count: true });
          const wanted = naive.filter(
            (row) => (status ?? row.status) === row.status && (title ?? row.title) === row.title,
          );
          assert.deepEqual(totalOf(page), [wanted.length, true], JSON.stringify(query));
        }
      }
      const unknown = await records.list(project_id, collectionId, { sha256: 'a'.repeat(64), count: true });
      assert.deepEqual(totalOf(unknown), [0, true]);
      const page = await collections.list(project_id, { limit: 1, count: true });
      assert.deepEqual(totalOf(page), [2, true]);
      assert.deepEqual(totalOf(await collections.list(newId('project'), { count: true })), [0, true]);
    });
  });
}

function totalOf(page: Page<unknown> | undefined) {
  return [page?.total?.count, page?.total?.isExact];
}
