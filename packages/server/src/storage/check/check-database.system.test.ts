import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryDatabases } from '../database/testing/temporary-databases.ts';
import { openDatabase } from '../open-database.ts';
import { createProjectRepository } from '../repositories/project-repository.ts';
import { checkDatabase } from './check-database.ts';

const logger = createLogger('silent');

async function createFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-damage-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Overwrites the first page of an index of a closed database. */
async function damageIndex(folder: string): Promise<void> {
  const file = join(folder, 'quartermaster.db');
  const db = new DatabaseSync(file);
  db.exec("insert into project (id, name, created_at) values ('a', 'a', 1)");
  db.exec('pragma wal_checkpoint(truncate)');
  const row = db.prepare("select rootpage from sqlite_schema where tbl_name = 'project' and type = 'index'").get();
  db.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4096 - 100, 0xff), 0, 4096 - 100, (Number(row?.rootpage) - 1) * 4096 + 100);
  await handle.close();
}

test('a check finds nothing in an undamaged SQLite database, and names the location of a damaged index', async (t) => {
  const folder = await createFolder(t);
  const whole = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger });
  assert.deepEqual((await checkDatabase(whole)).findings, []);
  await whole.close();
  await damageIndex(folder);
  const damaged = await openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger });
  t.after(() => damaged.close());
  const { checked, findings } = await checkDatabase(damaged);
  assert.match(checked, /integrity_check/);
  assert.ok(findings.length > 0);
});

test('a check reads every row of a PostgreSQL database and reports that it does not compare indexes', async (t) => {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  await createProjectRepository(database).listProjects();
  const { checked, findings } = await checkDatabase(database);
  assert.deepEqual(findings, []);
  assert.match(
    checked,
    /every row of every table was read, every segment of the search index, and the counts of vectors; indexes of the server were not compared/,
  );
});

/** Opens a database with one project. Reading it as text fails with this SQLSTATE the given number of times. */
async function openFailing(t: TestContext, code: string, times: number) {
  const { database, close } = await temporaryDatabases.PostgreSQL();
  t.after(close);
  for (const statement of [
    "insert into project (id, name, created_at) values ('a', 'a', 1)",
    'create sequence reads',
    `create function fail(project) returns text language plpgsql as $$ begin
      if nextval('reads') > ${times} then return ''; end if;
      raise exception 'made to fail' using errcode = '${code}';
    end $$`,
    'create cast (project as text) with function fail(project)',
  ]) {
    await sql.raw(statement).execute(database.write);
  }
  return database;
}

for (const code of ['XX000', 'XX001', 'XX002', '58P01', '58030']) {
  test(`the check reports ${code} of PostgreSQL as damage and reads the remaining rows`, async (t) => {
    const { findings } = await checkDatabase(await openFailing(t, code, 1));
    assert.equal(findings.length, 1);
    assert.match(findings[0] ?? '', /^project, pages 0 to \d+: .*made to fail/);
  });
}

for (const code of ['57014', '53200', '55P03', '22P02']) {
  test(`the check retries after ${code} of PostgreSQL and reports no damage`, async (t) => {
    const { findings } = await checkDatabase(await openFailing(t, code, 2));
    assert.deepEqual(findings, []);
  });
}

test('a check that PostgreSQL interrupts fails with a message that it found no damage', async (t) => {
  const database = await openFailing(t, '57014', 1000);
  await assert.rejects(checkDatabase(database), /check of the database did not finish .*project.* not damage/);
});

test('a start on a damaged SQLite file fails with a message that recommends restoring a backup', async (t) => {
  const folder = await createFolder(t);
  const file = join(folder, 'quartermaster.db');
  const start = () => openDatabase({ admission: createAdmission(), url: null, dataFolder: folder, logger });
  await writeFile(file, Buffer.alloc(8192, 'not a database '));
  await assert.rejects(start(), /quartermaster\.db is damaged: file is not a database\. .*restore a backup/);

  await rm(file);
  await (await start()).close();
  const closed = new DatabaseSync(file);
  closed.exec('pragma wal_checkpoint(truncate)');
  closed.close();
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(4096 * 8 - 120, 0x5a), 0, 4096 * 8 - 120, 120);
  await handle.close();
  await assert.rejects(start(), /is damaged: .*restore a backup/);
});
