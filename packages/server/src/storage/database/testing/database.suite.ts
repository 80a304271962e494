import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createNewId } from '../../../platform/identifier.ts';
import { testFullText } from '../../search-index/testing/full-text.suite.ts';
import type { Database } from '../database.ts';
import type { TemporaryDatabase } from './open-temporary-database.ts';
import { isUniqueViolation } from './unique-violation.ts';

const newId = createNewId();
/** Names are unique, so each contains the id. */
const newProject = (label = 'a project') => {
  const id = newId('project');
  return { id, name: `${label} ${id}`, created_at: 1_763_715_824_000 };
};
const newBlob = (sha256: string) => ({
  id: newId('blob'),
  project_id: 'proj00000000000000000000',
  sha256,
  bytes: Number.MAX_SAFE_INTEGER,
  created_at: 1,
});

/** Tests the behaviour that the repositories expect of every database. */
export function testDatabase(name: string, open: () => Promise<TemporaryDatabase>): void {
  describe(name, () => {
    let opened: TemporaryDatabase;
    let database: Database;
    before(async () => {
      opened = await open();
      database = opened.database;
    });
    after(() => opened.close());

    testRows(() => database);
    testManyRows(() => database);
    testRefusals(() => database);
    testAcknowledged(() => database);
    testUndoing(() => database);
    testConcurrency(() => database);
    testFullText(() => database);
  });
}

function testRows(database: () => Database): void {
  it('answers the check while it is available', () => database().check());

  it('inserts, updates and deletes, and returns the number of changed rows', async () => {
    const { write, read } = database();
    const project = newProject('before');
    await write.insertInto('project').values(project).execute();
    const updated = await write.updateTable('project').set({ name: 'after' }).where('id', '=', project.id).execute();
    assert.equal(updated[0]?.numUpdatedRows, 1n);
    const rows = await read.selectFrom('project').selectAll().where('id', '=', project.id).execute();
    assert.deepEqual(rows, [{ ...project, name: 'after' }]);
    const deleted = await write.deleteFrom('project').where('id', '=', project.id).execute();
    assert.equal(deleted[0]?.numDeletedRows, 1n);
    assert.equal(
      await read.selectFrom('project').where('id', '=', project.id).select('id').executeTakeFirst(),
      undefined,
    );
  });

  it('returns integers, including sums, as numbers', async () => {
    const blob = { ...newBlob('numbers'), state: 'live' as const };
    const returned = await database().write.insertInto('blob').values(blob).returningAll().executeTakeFirstOrThrow();
    assert.deepEqual(
      Object.fromEntries(Object.keys(blob).map((column) => [column, Reflect.get(returned, column)])),
      blob,
    );
    const { bytes } = await database()
      .read.selectFrom('blob')
      .select((select) => select.fn.sum<number>('bytes').as('bytes'))
      .where('id', '=', blob.id)
      .executeTakeFirstOrThrow();
    assert.equal(bytes, Number.MAX_SAFE_INTEGER);
  });

  it('stores text unchanged, whatever characters it contains', async () => {
    const name = `quote ' " \\ ; -- line\nข้อความ 文字 نص 🐘 ${'x'.repeat(100_000)}`;
    const project = { ...newProject(), name };
    await database().write.insertInto('project').values(project).execute();
    const found = await database().read.selectFrom('project').select('name').where('id', '=', project.id).execute();
    assert.deepEqual(found, [{ name }]);
  });
}

function testManyRows(database: () => Database): void {
  it('sorts ids byte by byte', async () => {
    const ids = ['srt_b', 'srt_B', 'srt_a1', 'srt_a_', 'srt_A', 'srt_a'];
    await database()
      .write.insertInto('project')
      .values(ids.map((id) => ({ ...newProject(), id })))
      .execute();
    const rows = await database()
      .read.selectFrom('project')
      .select('id')
      .where('id', 'like', 'srt%')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      rows.map((row) => row.id),
      [...ids].sort(),
    );
  });
}

function testRefusals(database: () => Database): void {
  it('distinguishes a unique violation from other errors', async () => {
    const { write } = database();
    const project = newProject();
    const insert = () => write.insertInto('project').values(project).execute();
    await insert();
    await assert.rejects(insert, isUniqueViolation);
    const live = { ...newBlob('unique'), state: 'live' as const };
    await write.insertInto('blob').values(live).execute();
    await assert.rejects(
      () =>
        write
          .insertInto('blob')
          .values({ ...live, id: newId('blob') })
          .execute(),
      isUniqueViolation,
    );
    const deleting = { ...live, id: newId('blob'), state: 'deleting' as const };
    await write.insertInto('blob').values(deleting).execute();
    const nameless = { ...newProject(), name: null as never };
    await assert.rejects(
      () => write.insertInto('project').values(nameless).execute(),
      (error) => error instanceof Error && !isUniqueViolation(error),
    );
  });

  it('refuses a file whose blob does not exist', async () => {
    const file = {
      id: newId('file'),
      project_id: 'proj00000000000000000000',
      blob_id: newId('blob'),
      name: 'a.txt',
      purpose: 'any',
      extension: '.txt',
      bytes: 1,
      sha256: 'x',
      state: 'live' as const,
      created_at: 1,
    };
    await assert.rejects(() => database().write.insertInto('file').values(file).execute());
    assert.deepEqual(await database().read.selectFrom('file').select('id').where('id', '=', file.id).execute(), []);
  });
}

function testAcknowledged(database: () => Database): void {
  it('returns in `read` every write that `write` has acknowledged', async () => {
    for (let round = 0; round < 50; round += 1) {
      const project = newProject();
      await database().write.insertInto('project').values(project).execute();
      const found = await database().read.selectFrom('project').selectAll().where('id', '=', project.id).execute();
      assert.deepEqual(found, [project]);
    }
  });
}

function testUndoing(database: () => Database): void {
  it('rolls back a failed transaction completely and continues', async () => {
    const { write, read } = database();
    const [first, second] = [newProject(), newProject()];
    const failure = new Error('on purpose');
    await assert.rejects(
      write.transaction().execute(async (transaction) => {
        await transaction.insertInto('project').values(first).execute();
        await transaction.insertInto('project').values(second).execute();
        throw failure;
      }),
      failure,
    );
    const remaining = await read.selectFrom('project').select('id').where('id', 'in', [first.id, second.id]).execute();
    assert.deepEqual(remaining, []);
    await write.insertInto('project').values(first).execute();
  });

  it('rolls back a transaction whose statement was refused', async () => {
    const { write, read } = database();
    const project = newProject();
    const twice = write.transaction().execute(async (transaction) => {
      await transaction.insertInto('project').values(project).execute();
      await transaction.insertInto('project').values(project).execute();
    });
    await assert.rejects(twice, isUniqueViolation);
    assert.deepEqual(await read.selectFrom('project').select('id').where('id', '=', project.id).execute(), []);
  });
}

function testConcurrency(database: () => Database): void {
  it('hides a transaction from readers until it has ended', async () => {
    const { write, read } = database();
    const project = newProject();
    await write.transaction().execute(async (transaction) => {
      await transaction.insertInto('project').values(project).execute();
      assert.deepEqual(await read.selectFrom('project').select('id').where('id', '=', project.id).execute(), []);
    });
    assert.equal((await read.selectFrom('project').select('id').where('id', '=', project.id).execute()).length, 1);
  });

  it('loses no update among 50 concurrent transactions', async () => {
    const { write, read } = database();
    const blob = { ...newBlob('counter'), bytes: 0, state: 'live' as const };
    await write.insertInto('blob').values(blob).execute();
    const increase = () =>
      write.transaction().execute(async (transaction) => {
        await transaction.updateTable('blob').set({ state: 'live' }).where('id', '=', blob.id).execute();
        const { bytes } = await transaction
          .selectFrom('blob')
          .select('bytes')
          .where('id', '=', blob.id)
          .executeTakeFirstOrThrow();
        await transaction
          .updateTable('blob')
          .set({ bytes: bytes + 1 })
          .where('id', '=', blob.id)
          .execute();
      });
    await Promise.all(Array.from({ length: 50 }, increase));
    const after = await read.selectFrom('blob').select('bytes').where('id', '=', blob.id).executeTakeFirstOrThrow();
    assert.equal(after.bytes, 50);
  });

  it('commits a transaction without statements', async () => {
    assert.equal(
      await database()
        .write.transaction()
        .execute(async () => 'done'),
      'done',
    );
  });
}
