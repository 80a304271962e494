import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../../../../test/support/postgres.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createLogger } from '../../platform/log/logger.ts';
import { temporaryFolder } from '../../platform/testing/temporary-folder.ts';
import { openPostgresDatabase } from './postgres-database.ts';
import { toLibpqEnvironment } from './postgres-programs.ts';
import { assertEmpty, restoreDump, takePostgresSnapshot, tryDump } from './postgres-snapshot.ts';

const { signal } = new AbortController();

test('every sslmode of a URL has the same meaning for pg_dump and for the driver', async (t) => {
  const folder = await temporaryFolder(t);
  const [root, written] = [join(folder, 'root.pem'), join(folder, 'authorities.pem')];
  await writeFile(root, 'an authority');
  const modes = async (query: string) => {
    const { PGSSLMODE, PGSSLROOTCERT } = await toLibpqEnvironment(`postgres://db.example/x?${query}`, written);
    return [PGSSLMODE, PGSSLROOTCERT];
  };
  assert.deepEqual(await modes(''), ['disable', undefined]);
  assert.deepEqual(await modes('sslmode=disable'), ['disable', undefined]);
  assert.deepEqual(await modes('sslmode=no-verify'), ['require', undefined]);
  assert.deepEqual(await modes('sslmode=require&uselibpqcompat=true'), ['require', undefined]);
  assert.deepEqual(await modes(`sslmode=verify-full&sslrootcert=${root}`), ['verify-full', root]);
  assert.deepEqual(await modes(`sslmode=verify-ca&uselibpqcompat=true&sslrootcert=${root}`), ['verify-ca', root]);
  assert.deepEqual(await modes('sslmode=require'), ['verify-full', written]);
  assert.match(await readFile(written, 'utf8'), /^-----BEGIN CERTIFICATE-----/);
});

test('the decoded options of a URL reach pg_dump, and a service file of the environment does not replace them', async () => {
  const url = 'postgres://some%40one:p%2Fa%25ss@db.example:6432/the%20store?options=-c%20search_path%3Dqm';
  const environment = await toLibpqEnvironment(url, '/nowhere');
  const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGOPTIONS, PGSERVICE } = environment;
  assert.deepEqual(
    [PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGOPTIONS, PGSERVICE],
    ['db.example', '6432', 'some@one', 'p/a%ss', 'the store', '-c search_path=qm', undefined],
  );
});

test('a dump contains only the tables of the store and needs no permission to read others', async (t) => {
  const { url, role, admin } = await openStoreOfRole(t);
  const own = `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S')`;
  const { rows: relations } = await admin.query<{ name: string }>(own);
  await admin.query(`create table secrets_of_role (id serial); alter table secrets_of_role owner to ${role}`);
  await admin.query('create schema other; create table other.secrets (id int); create table secrets (id int)');
  await admin.query(`alter role ${role} set idle_in_transaction_session_timeout = 1`);
  const folder = await temporaryFolder(t);
  const snapshot = await takePostgresSnapshot({ url, environment: process.env }, folder);
  assert.deepEqual([snapshot.schema, await snapshot.liveBlobs('', 10)], ['public', []]);
  await snapshot.close();
  const names = (await readFile(join(folder, 'database.dump'))).toString('latin1');
  for (const { name } of relations) assert.ok(names.includes(`public.${name}`), name);
  assert.equal(names.includes('secrets'), false);
  await tryDump({ url, environment: process.env }, folder, signal);
});

test('a store that a newer version has changed is not dumped, because the dump would lack tables', async (t) => {
  const { url, admin } = await openStoreOfRole(t);
  await admin.query("insert into schema_migration values ('9999-later', '2030')");
  const folder = await temporaryFolder(t);
  await assert.rejects(takePostgresSnapshot({ url, environment: process.env }, folder), /newer version .*9999-later/);
});

test('the trial reports unreadable tables and sequences, a missing pg_dump, and a database without a store', async (t) => {
  const { url, role, admin } = await openStoreOfRole(t);
  const folder = await temporaryFolder(t);
  await assert.rejects(tryDump({ url, environment: { PATH: folder } }, folder, signal), /pg_dump is not on the PATH/);
  await admin.query(`reassign owned by ${role} to postgres`);
  await admin.query(`grant usage on schema public to ${role}; grant select on all tables in schema public to ${role}`);
  const withoutSequences = tryDump({ url, environment: process.env }, folder, signal);
  await assert.rejects(
    withoutSequences,
    /cannot read public\.chunk_seq_seq, public\.index_segment_id_seq\. Grant it SELECT on these/,
  );
  await admin.query(`grant select on all sequences in schema public to ${role}`);
  await tryDump({ url, environment: process.env }, folder, signal);
  await admin.query('drop table schema_migration');
  await assert.rejects(tryDump({ url, environment: process.env }, folder, signal), /No Quartermaster store found/);
});

test('a dump can be restored into a database whose name has quotes and backslashes', async (t) => {
  const { url, admin } = await openStoreOfRole(t);
  const folder = await temporaryFolder(t);
  await (await takePostgresSnapshot({ url, environment: process.env }, folder)).close();
  const name = `${new URL(url).pathname.slice(1)} o'\\n"e`;
  await admin.query(`create database ${pg.escapeIdentifier(name)}`);
  const target = new URL(url);
  target.username = 'postgres';
  target.pathname = `/${encodeURIComponent(name)}`;
  try {
    const backup = { backup: folder, place: folder, schema: 'public' };
    await restoreDump({ url: target.href, environment: process.env }, backup);
    await assert.rejects(assertEmpty({ url: target.href }), /already holds a store/);
  } finally {
    await admin.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
  }
});

/** Opens a store whose tables belong to their own role. */
async function openStoreOfRole(t: TestContext) {
  const database = await createTestDatabase();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const role = `role_${new URL(database.url).pathname.slice(1)}`;
  await admin.query(`create role ${role} login`);
  await admin.query(`grant create, usage on schema public to ${role}`);
  t.after(async () => {
    await admin.query(`reassign owned by ${role} to postgres; drop owned by ${role}`);
    await admin.query(`drop role ${role}`);
    await admin.end();
    await database.drop();
  });
  const url = new URL(database.url);
  url.username = role;
  const logger = createLogger('silent');
  await (
    await openPostgresDatabase(url.href, { admission: createAdmission(), url: url.href, dataFolder: '', logger })
  ).close();
  return { url: url.href, role, admin };
}
