import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from './database.ts';
import { baselineStatements } from './migrations/0001-baseline.ts';
import { assertReadableStore, migrate, migrationsFor } from './migrations.ts';
import { tableNames } from './table-names.ts';
import hashes from './testing/baseline-hashes.json' with { type: 'json' };
import { temporaryDatabases } from './testing/temporary-databases.ts';

/** A migration of a later version, whose name sorts after all others. */
const later: Migration = {
  async up(db) {
    await sql`alter table project add column note text not null default 'none'`.execute(db);
  },
};
const unreleased = /^An unreleased version of Quartermaster created this store, and this version cannot read it: /;

/** Inserts a row into the table that the statement creates. All its ids are `x`, and all numbers 1, so that rows refer to each other. */
async function fillTable(write: Database['write'], statement: string): Promise<string[]> {
  const [, table] = /^create table (\w+)/.exec(statement) ?? [];
  if (table === undefined) return [];
  const columns = statement.split('\n').flatMap((line) => {
    const [, column, type = ''] = /^ +(\w+) (text|integer|bigint|real|double precision|blob|bytea)/.exec(line) ?? [];
    if (column === undefined || /autoincrement|generated/.test(line)) return [];
    const [, allowed = 'x'] = / in \('(\w+)'/.exec(line) ?? [];
    const value = type === 'text' ? allowed : /^b(?:lob|ytea)$/.test(type) ? new Uint8Array(1) : 1;
    return [{ name: sql.ref(column), value }];
  });
  const names = sql.join(columns.map((column) => column.name));
  const values = sql.join(columns.map((column) => column.value));
  // The baseline itself inserts the row of some tables.
  await sql`insert into ${sql.table(table)} (${names}) values (${values}) on conflict do nothing`.execute(write);
  return [table];
}

/** Tables of the baseline that have another name now. */
const renamed: Readonly<Record<string, string>> = { administrator: 'account' };
const former = {
  ...{ id: 'x', name: 'x', password_hash: 'x', browser_secret: 'x' },
  ...{ email: null, issuer: null, subject: null, disabled_at: null, last_sign_in_at: null, administrator_source: null },
};

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`the next migration changes a store of the baseline once, and the version before it refuses that store: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, read, dialect } = database;
    await write.insertInto('project').values({ id: 'p', name: 'tea', created_at: 1 }).execute();
    const migrations = { ...migrationsFor(dialect), '9999-later': later };
    await migrate(write, dialect, migrations);
    await migrate(write, dialect, migrations);
    const { rows } = await sql<object>`select id, name, note from project`.execute(read);
    assert.deepEqual(
      rows.map(({ ...row }) => row),
      [{ id: 'p', name: 'tea', note: 'none' }],
    );
    await assert.rejects(
      migrate(write, dialect),
      /^OperatorError: A newer version of Quartermaster changed the database \(migrations 9999-later\)\. Use that version/,
    );
  });

  test(`this version opens a store of the frozen baseline, which has a row in each table: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, dialect } = database;
    const { '0001-baseline': baseline = assert.fail() } = migrationsFor(dialect);
    // A table that `tableNames` lacks stays, so that the statement that creates it fails.
    for (const table of tableNames.toReversed()) {
      const kind = dialect === 'postgres' && table === 'pair_key' ? 'view' : 'table';
      await sql`drop ${sql.raw(kind)} ${sql.table(table)} ${sql.raw(dialect === 'postgres' ? 'cascade' : '')}`.execute(
        write,
      );
    }
    await migrate(write, dialect, { '0001-baseline': baseline });
    const filled: string[] = [];
    for (const statement of baselineStatements(dialect)) filled.push(...(await fillTable(write, statement)));
    assert.ok(filled.length > 35, `${filled.length} tables`);
    await migrate(write, dialect);
    for (const table of filled) {
      const { rows } = await sql`select * from ${sql.table(renamed[table] ?? table)}`.execute(write);
      assert.equal(rows.length, 1, table);
    }
    const account = await write.selectFrom('account').selectAll().executeTakeFirstOrThrow();
    assert.deepEqual({ ...account }, { ...former, created_at: 1, updated_at: 1, is_administrator: 1 });
    const session = await write.selectFrom('session').select(['hash', 'account_id']).executeTakeFirstOrThrow();
    assert.deepEqual({ ...session }, { hash: 'x', account_id: 'x' });
  });

  test(`a migration that fails changes nothing, and the next start does it: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, dialect } = database;
    const cut: Migration = {
      async up(db) {
        await later.up(db);
        throw new Error('cut off');
      },
    };
    await assert.rejects(migrate(write, dialect, { ...migrationsFor(dialect), '9999-later': cut }), /migration of the/);
    await migrate(write, dialect);
    await migrate(write, dialect, { ...migrationsFor(dialect), '9999-later': later });
  });

  test(`a store that an unreleased version created is refused and not changed: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, read, dialect } = database;
    const migrations = write.withTables<{ schema_migration: { name: string; timestamp: string } }>();
    await migrations.deleteFrom('schema_migration').execute();
    const names = ['0001-first', '0002-rows'];
    const earlier = names.map((name) => ({ name, timestamp: '2026' }));
    await migrations.insertInto('schema_migration').values(earlier).execute();
    await assert.rejects(migrate(write, dialect), { name: 'OperatorError', message: unreleased });
    const { rows } = await sql<{ name: string }>`select name from schema_migration order by name`.execute(read);
    assert.deepEqual(
      rows.map((row) => row.name),
      names,
    );
  });
}

test('a database without a migration can be read, because its store is being created', () => {
  assertReadableStore([]);
  assert.throws(() => assertReadableStore(['0001-first']), { message: unreleased });
});

for (const dialect of ['sqlite', 'postgres'] as const) {
  test(`the baseline of ${dialect} is the one that was agreed on`, () => {
    const found = createHash('sha256').update(baselineStatements(dialect).join('\n')).digest('hex');
    const remedy = 'The baseline has changed. Add a migration instead: CONTRIBUTING.md, "Change the database".';
    assert.equal(found, hashes[dialect], remedy);
  });
}
