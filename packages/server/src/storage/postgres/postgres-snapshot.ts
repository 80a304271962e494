import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { systemClock } from '../../platform/clock.ts';
import { type DatabaseSnapshot, mostNamedFiles } from '../../platform/database-snapshot.ts';
import { readProject } from '../../platform/project-text.ts';
import { auditFunction } from '../database/migrations/0006-audit-log.ts';
import { assertKnownStore, migrationsFor, migrationTable, movedName } from '../database/migrations.ts';
import { databaseNotEmpty, noPostgresStore } from '../database/problems.ts';
import { tableNames } from '../database/table-names.ts';
import type { Tables } from '../database/tables.ts';
import { connect, type PostgresTarget, runProgram } from './postgres-programs.ts';
import { types } from './postgres-server.ts';

/** The name of the dump in a backup. `pg_restore` reads it. */
export const dumpFile = 'database.dump';

const certificatesFile = 'authorities.pem';

/**
 * The statements are sent as one message. The transaction is idle while pg_dump runs, so it overrides the role's
 * timeout for idle transactions.
 */
const begin = `begin isolation level repeatable read read only;
  set local idle_in_transaction_session_timeout = 0; set local statement_timeout = 0`;

export interface PostgresSnapshot extends DatabaseSnapshot {
  /** The schema of the tables. */
  readonly schema: string;
}

/**
 * Dumps the tables of a store into a folder with `pg_dump`. The dump and the list of blobs use the same snapshot of the
 * server, so concurrent writes cannot make them differ.
 * @param assertFolder receives the id of the data folder, null when the store has none, and throws to refuse the backup
 * @throws when `pg_dump` is missing or fails
 */
export async function takePostgresSnapshot(
  source: PostgresTarget,
  folder: string,
  assertFolder: (folderId: string | null) => Promise<void> = async () => {},
): Promise<PostgresSnapshot> {
  const client = await connect(source.url);
  try {
    await client.query(begin);
    const { rows } = await client.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot');
    const { schema, names } = await findRelations(client);
    const store = await readStore(client);
    await assertFolder(store.folder_id);
    const options = ['--format=custom', `--snapshot=${rows[0]?.snapshot}`, `--file=${join(folder, dumpFile)}`];
    const certificates = join(folder, certificatesFile);
    await runProgram('pg_dump', [...options, ...dumpOf(names)], { ...source, certificates });
    await rm(certificates, { force: true });
    return {
      schema,
      store: { id: store.id, blobsPlace: store.blobs_place ?? null },
      liveBlobs: async (after, limit) => await listBlobs(client, after, limit),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * Checks the preconditions of a backup without reading a row.
 * @throws when a backup would fail; the message gives the reason
 */
export async function tryDump(source: PostgresTarget, folder: string, signal: AbortSignal): Promise<void> {
  const client = await connect(source.url);
  try {
    const { names, unreadable } = await findRelations(client);
    if (unreadable.length > 0)
      throw new Error(
        `The database role cannot read ${unreadable.join(', ')}. Grant it SELECT on these tables and sequences.`,
      );
    const certificates = join(folder, certificatesFile);
    const args = ['--schema-only', '--file=/dev/null', ...dumpOf(names)];
    await runProgram('pg_dump', args, { ...source, certificates, signal });
    await rm(certificates, { force: true });
  } finally {
    await client.end();
  }
}

const dumpOf = (names: readonly string[]) => [
  ...['--no-owner', '--no-privileges', '--no-password'],
  ...names.map((name) => `--table=${name}`),
  // Excludes the secret, so that a backup cannot confirm guesses about hashed answers. A restored store creates another
  // secret.
  ...names.filter((name) => name.endsWith('.answer_key')).map((name) => `--exclude-table-data=${name}`),
];

interface Relations {
  readonly schema: string;
  /** Quoted names with their schema. */
  readonly names: readonly string[];
  /** Tables and sequences that the role may not read; `pg_dump` would fail on them. */
  readonly unreadable: readonly string[];
}

/**
 * Finds the tables, views and sequences of a store. Other tables may share the schema and the role.
 * @throws when an unreleased version has created the database, or a newer version has changed it, because the tables of
 * these are unknown
 */
async function findRelations(client: pg.Client): Promise<Relations> {
  const { rows } = await client.query<{ schema: string; name: string; readable: boolean }>(
    `select n.nspname as schema, quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
       case c.relkind when 'S' then has_sequence_privilege(c.oid, 'select') else has_table_privilege(c.oid, 'select') end
         as readable
     from pg_class m
     join pg_namespace n on n.oid = m.relnamespace
     join pg_class c on c.relnamespace = n.oid
     left join pg_depend d on c.relkind = 'S' and d.objid = c.oid and d.deptype in ('a', 'i')
     left join pg_class o on o.oid = d.refobjid
     where m.oid = to_regclass('schema_migration') and c.relkind in ('r', 'p', 'v', 'S')
       and coalesce(o.relname, c.relname)::text = any ($1)
     order by name`,
    [tableNames],
  );
  const [first] = rows;
  if (first === undefined) throw noPostgresStore();
  const unreadable = rows.filter(({ readable }) => !readable).map(({ name }) => name);
  if (unreadable.length === 0) await assertKnown(client);
  return { schema: first.schema, names: rows.map(({ name }) => name), unreadable };
}

/** The id of the folder is null before the first start of a files address. A store of an earlier version has fewer columns. */
async function readStore(client: pg.Client) {
  const { rows } = await client.query<{ id: string; folder_id: string | null; blobs_place?: string | null }>(
    'select * from store',
  );
  return rows[0] ?? { id: '', folder_id: null };
}

async function assertKnown(client: pg.Client): Promise<void> {
  assertKnownStore(await listMigrations(client), Object.keys(migrationsFor('postgres')));
}

async function listMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migration order by name');
  return rows.map(({ name }) => name);
}

async function listBlobs(client: pg.Client, after: string, limit: number) {
  const { rows } = await client.query(
    `select id as "blobId", project_id as project, bytes::float8 as bytes, sha256,
       (select coalesce(json_agg(json_build_object('fileId', f.id, 'name', f.name)), '[]') from (select id, name from file
         where blob_id = blob.id and state = 'live' order by id limit ${mostNamedFiles}) f) as files
     from blob where state = 'live' and id > $1 order by id limit $2`,
    [after, limit],
  );
  return rows.map(({ project, ...row }) => ({ ...row, projectId: readProject(project) }));
}

/** Throws when the database already contains a store. */
export async function assertEmpty({ url }: Pick<PostgresTarget, 'url'>): Promise<void> {
  if ((await readMigrations(url)) !== undefined) throw databaseNotEmpty();
}

/** Returns the names of the migrations of a store; undefined when the database has none. Changes nothing. */
export async function readMigrations(url: string): Promise<string[] | undefined> {
  const client = await connect(url);
  try {
    const { rows } = await client.query(`select to_regclass('schema_migration') is not null as used`);
    return rows[0]?.used === true ? await listMigrations(client) : undefined;
  } finally {
    await client.end();
  }
}

/** Stores in the source of a move where the store is now, so that no service starts there any more. */
export async function markMovedStore(url: string, place: string): Promise<void> {
  const client = await connect(url);
  try {
    const time = new Date(systemClock.now()).toISOString();
    const insert = `insert into ${migrationTable} (name, timestamp) values ($1, $2) on conflict do nothing`;
    await client.query(insert, [movedName(place), time]);
  } finally {
    await client.end();
  }
}

/** Opens a stopped store for reading. No statement can change it. */
export function openPostgresReader(url: string): Kysely<Tables> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    types,
    keepAlive: true,
    application_name: 'quartermaster move',
  });
  pool.on('error', () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * Restores a dump of `takePostgresSnapshot` in one transaction. The role of the connection becomes the owner of
 * everything, whatever the original roles were.
 * @param place the folder that the restore fills
 */
export async function restoreDump(
  target: PostgresTarget,
  { backup, place, schema }: { readonly backup: string; readonly place: string; readonly schema: string },
): Promise<void> {
  const client = await connect(target.url);
  try {
    const { rows } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
    if (rows.length === 0) await client.query(`create schema ${client.escapeIdentifier(schema)}`);
    await client.query(`set search_path = ${client.escapeIdentifier(schema)}; ${auditFunction}`);
    const certificates = join(place, 'authorities.pem');
    // In libpq, a backslash escapes a quote and itself.
    const database = (client.database ?? '').replaceAll(/[\\']/g, '\\$&');
    const options = ['--no-owner', '--no-privileges', '--no-password', '--exit-on-error', '--single-transaction'];
    const args = [...options, `--dbname=dbname='${database}'`, join(backup, dumpFile)];
    await runProgram('pg_restore', args, { ...target, certificates });
    // The process that served the store during the backup does not use this database.
    await client.query(`delete from ${client.escapeIdentifier(schema)}.node`);
  } finally {
    await client.end();
  }
}
