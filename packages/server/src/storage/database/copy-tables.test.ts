import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { type CopiedTable, copiedTables, copyTables, type TableCopy } from './copy-tables.ts';
import type { Database } from './database.ts';
import { fillProject } from './testing/project-rows.fixture.ts';
import { type DatabaseKind, temporaryDatabases } from './testing/temporary-databases.ts';

const rowsOf = ({ read: db, dialect }: Database) => ({ db, dialect });

async function open(t: TestContext, kind: DatabaseKind): Promise<Database> {
  const { database, close } = await temporaryDatabases[kind]();
  t.after(close);
  return database;
}

async function copy(from: Database, to: Database, more: Partial<TableCopy> = {}): Promise<readonly CopiedTable[]> {
  return await copyTables({ source: rowsOf(from), target: { ...rowsOf(to), db: to.write }, changed: {}, ...more });
}

/** Adds values at the limits of their types. */
async function addExtremes({ write }: Database): Promise<void> {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  await sql`insert into index_page (id, data) values (${2 ** 53 - 1}, ${bytes}), (-1, ${new Uint8Array(0)})`.execute(
    write,
  );
  await sql`insert into account (id, name, email, is_administrator, created_at, updated_at)
    values ('É', ${'a\n\t"\\\u{1f375}é'}, ${''}, 1, ${2 ** 53 - 1}, -1)`.execute(write);
  await sql`insert into similarity_scale (collection_id, model, first_change, last_change, unrelated, related, weight, share)
    select id, 'm', 0, 1, 0.1, ${1 / 3}, 5e-324, 1.7976931348623157e308 from collection limit 1`.execute(write);
}

const hashes = (tables: readonly CopiedTable[]) => tables.map(({ table, rows, sha256 }) => [table, rows, sha256]);

for (const [first, second] of [
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
] as const)
  test(`every table is equal after a copy from ${first} to ${second} and back`, async (t) => {
    const [source, target, back] = [await open(t, first), await open(t, second), await open(t, first)];
    await fillProject(source, 'one', 1200);
    await fillProject(source, 'two');
    await sql`delete from similarity_scale`.execute(source.write);
    await addExtremes(source);
    await sql`delete from chunk_vector`.execute(source.write);
    await sql`delete from second_chunk_vector`.execute(source.write);
    await sql`delete from chunk`.execute(source.write);
    const there = await copy(source, target);
    assert.deepEqual(hashes(await copy(target, back)), hashes(there));
    const rows = new Map(there.map((each) => [each.table, each.rows]));
    assert.deepEqual([rows.get('run'), rows.get('index_page'), rows.get('store')], [1202, 6, 1]);
    // A number that an index may still name is not given again.
    for (const database of [target, back]) {
      await fillProject(database, 'three');
      const { rows: chunks } = await sql<{ first: number }>`select min(seq) as first from chunk`.execute(database.read);
      assert.equal(chunks[0]?.first, 5);
    }
  });

test('an interrupted copy continues after the last row, and one whose source has changed since is made equal', async (t) => {
  const [source, target] = [await open(t, 'SQLite'), await open(t, 'PostgreSQL')];
  await fillProject(source, 'one', 1200);
  const interrupted = copy(source, target, {
    onProgress: (table, rows) => {
      if (table === 'blob' && rows === 1000) throw new Error('interrupted');
    },
  });
  await assert.rejects(interrupted, /interrupted/);
  const copied: Record<string, number> = {};
  const onProgress = (table: string, rows: number) => {
    copied[table] = rows;
  };
  const first = hashes(await copy(source, target, { onProgress }));
  assert.deepEqual([copied.project, copied.blob, copied.file], [undefined, 200, 1200]);
  await sql`update project set name = 'another'`.execute(source.write);
  await sql`delete from run`.execute(source.write);
  const changed = hashes(await copy(source, target));
  assert.notDeepEqual(changed, first);
  assert.deepEqual(hashes(await copy(target, await open(t, 'SQLite'))), changed);
});

test('a batch of long values is small, and a value that is longer than a batch is copied alone', async (t) => {
  const [source, target] = [await open(t, 'SQLite'), await open(t, 'PostgreSQL')];
  for (const [id, mebibytes] of [1, 2, 9, 1, 1, 1, 1, 1].entries()) {
    await sql`insert into index_page (id, data) values (${id}, ${Buffer.alloc(mebibytes * 2 ** 20, id)})`.execute(
      source.write,
    );
  }
  const batches: number[] = [];
  await copy(source, target, { onProgress: (table, rows) => void (table === 'index_page' && batches.push(rows)) });
  assert.deepEqual(batches, [2, 3, 7, 8]);
});

test('an event of the audit log that differs cannot be replaced, and the error names the table', async (t) => {
  const [source, target] = [await open(t, 'SQLite'), await open(t, 'PostgreSQL')];
  await sql`insert into audit_event (id, at, actor_kind, action, object_kind, outcome, details)
    values ('a', ${Date.now()}, 'key', 'x', 'y', 'z', '{}')`.execute(target.write);
  await assert.rejects(copy(source, target), /The table audit_event of the target differs from that of the source/);
});

test('a table follows those that its rows refer to', async (t) => {
  const { read } = await open(t, 'SQLite');
  const { rows } = await sql<{ child: string; parent: string }>`select m.name as child, f."table" as parent
    from sqlite_schema m, pragma_foreign_key_list(m.name) f where m.type = 'table'`.execute(read);
  assert.ok(rows.length > 10);
  const wrong = rows.filter(({ child, parent }) => copiedTables.indexOf(child) <= copiedTables.indexOf(parent));
  assert.deepEqual(wrong, []);
});
