import assert from 'node:assert/strict';
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openSqliteDatabase } from './sqlite-database.ts';
import { takeSqliteSnapshot } from './sqlite-snapshot.ts';

test('a copy is one file and includes the changes of the log, and the original stays in use', async (t) => {
  const { data, copy } = await createFolders(t);
  const database = await openSqliteDatabase({
    admission: createAdmission(),
    url: null,
    dataFolder: data,
    logger: createLogger('silent'),
  });
  t.after(() => database.close());
  const writer = new DatabaseSync(join(data, 'quartermaster.db'));
  addBlob(writer, 'blob-1', 'live');
  addBlob(writer, 'blob-2', 'deleting');
  addBlob(writer, 'blob-3', 'live');
  const snapshot = await takeSqliteSnapshot(data, copy);
  addBlob(writer, 'blob-4', 'live');
  writer.close();
  const [first, second] = [await snapshot.liveBlobs('', 1), await snapshot.liveBlobs('blob-1', 10)];
  await snapshot.close();
  const described = { blobId: 'blob-1', projectId: 'project-1', bytes: 7, sha256: 'a hash of blob-1', files: [] };
  assert.deepEqual({ ...first[0] }, described);
  assert.deepEqual(
    second.map(({ blobId }) => blobId),
    ['blob-3'],
  );
  assert.deepEqual(await readdir(copy), ['quartermaster.db']);
});

test('the tables of another version are copied unchanged', async (t) => {
  const { data, copy } = await createFolders(t);
  await (
    await openSqliteDatabase({
      admission: createAdmission(),
      url: null,
      dataFolder: data,
      logger: createLogger('silent'),
    })
  ).close();
  const newer = new DatabaseSync(join(data, 'quartermaster.db'));
  newer.exec(`insert into schema_migration values ('9999-from-the-future', '2030-01-01T00:00:00.000Z')`);
  newer.exec('create table of_the_future (id text)');
  newer.close();
  await (await takeSqliteSnapshot(data, copy)).close();
  const copied = new DatabaseSync(join(copy, 'quartermaster.db'), { readOnly: true });
  assert.equal(copied.prepare('select count(*) as n from of_the_future').get()?.n, 0);
  copied.close();
});

test('a copy of a damaged database is refused', async (t) => {
  const { data, copy } = await createFolders(t);
  await (
    await openSqliteDatabase({
      admission: createAdmission(),
      url: null,
      dataFolder: data,
      logger: createLogger('silent'),
    })
  ).close();
  const log = new DatabaseSync(join(data, 'quartermaster.db'));
  log.exec('pragma wal_checkpoint(truncate)');
  log.close();
  const file = await open(join(data, 'quartermaster.db'), 'r+');
  await file.write(Buffer.alloc(40_000, 0xff), 0, 40_000, 8192);
  await file.close();
  await assert.rejects(takeSqliteSnapshot(data, copy), /is damaged, so nothing was copied|malformed/);
});

function addBlob(db: DatabaseSync, id: string, state: string): void {
  db.exec(`insert or ignore into project (id, name, created_at) values ('project-1', 'one', 1)`);
  db.prepare('insert into blob (id, project_id, sha256, bytes, state, created_at) values (?, ?, ?, ?, ?, 1)').run(
    id,
    'project-1',
    `a hash of ${id}`,
    7,
    state,
  );
}

async function createFolders(t: TestContext): Promise<{ data: string; copy: string }> {
  const folder = await temporaryFolder(t);
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
  await mkdir(data);
  await mkdir(copy);
  return { data, copy };
}
