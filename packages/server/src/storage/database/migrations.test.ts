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
import { type DatabaseKind, temporaryDatabases } from './testing/temporary-databases.ts';

const dialects = { SQLite: 'sqlite', PostgreSQL: 'postgres' } as const satisfies Record<
  DatabaseKind,
  Database['dialect']
>;

/** The next migration, as a later version has it. */
const later: Migration = {
  async up(db) {
    await sql`alter table project add column note text not null default 'none'`.execute(db);
  },
};
const unreleased = /^An unreleased version of Quartermaster created this store, and this version cannot read it: /;

for (const [name, open] of Object.entries(temporaryDatabases)) {
  test(`the next migration changes a store of the baseline once, and the version before it refuses that store: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, read, dialect } = database;
    await write.insertInto('project').values({ id: 'p', name: 'tea', created_at: 1 }).execute();
    const migrations = { ...migrationsFor(dialect), '0002-later': later };
    await migrate(write, dialect, migrations);
    await migrate(write, dialect, migrations);
    const { rows } = await sql<object>`select id, name, note from project`.execute(read);
    assert.deepEqual(
      rows.map(({ ...row }) => row),
      [{ id: 'p', name: 'tea', note: 'none' }],
    );
    await assert.rejects(
      migrate(write, dialect),
      /^OperatorError: A newer version of Quartermaster changed the database \(migrations 0002-later\)\. Use that version/,
    );
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
    await assert.rejects(migrate(write, dialect, { ...migrationsFor(dialect), '0002-later': cut }), /migration of the/);
    await migrate(write, dialect);
    await migrate(write, dialect, { ...migrationsFor(dialect), '0002-later': later });
  });

  test(`a store that an unreleased version created is refused and not changed: ${name}`, async (t) => {
    const { database, close } = await open();
    t.after(close);
    const { write, read, dialect } = database;
    const migrations = write.withTables<{ schema_migration: { name: string; timestamp: string } }>();
    await migrations.updateTable('schema_migration').set({ name: '0001-first' }).execute();
    await migrations.insertInto('schema_migration').values({ name: '0002-rows', timestamp: '2026' }).execute();
    await assert.rejects(migrate(write, dialect), { name: 'OperatorError', message: unreleased });
    const { rows } = await sql<{ name: string }>`select name from schema_migration order by name`.execute(read);
    assert.deepEqual(
      rows.map((row) => row.name),
      ['0001-first', '0002-rows'],
    );
  });
}

test('a database without a migration can be read, because its store is being created', () => {
  assertReadableStore([]);
  assert.throws(() => assertReadableStore(['0001-first']), { message: unreleased });
});

for (const [name, dialect] of Object.entries(dialects)) {
  test(`the baseline of ${name} is the one that was agreed on`, () => {
    const found = createHash('sha256').update(baselineStatements(dialect).join('\n')).digest('hex');
    assert.equal(
      found,
      hashes[dialect],
      'The baseline has changed. Add a migration instead: CONTRIBUTING.md, "Change the database".',
    );
  });

  test(`the baseline of ${name} creates each table of a store`, () => {
    const created = baselineStatements(dialect).flatMap((text) => /^create table (\w+)/.exec(text)?.[1] ?? []);
    const own = tableNames.filter((table) => !table.startsWith('schema_migration'));
    assert.deepEqual(created.toSorted(), own.toSorted());
  });
}
