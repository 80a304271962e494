import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { DatabaseSnapshot } from '../../backup/snapshot-port.ts';
import { dumpFailed, dumpProgramMissing } from './problems.ts';

/** Of the dump in a backup; `pg_restore` reads it. */
export const dumpFile = 'database.dump';

/** Milliseconds until a server that does not answer counts as unreachable. */
const connectTimeout = 10_000;

export interface PostgresSource {
  readonly url: string;
  /** `pg_dump` is found by its PATH, and takes the settings of PostgreSQL's own programs from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Dumps a PostgreSQL database into a folder with `pg_dump`. The dump and the list of blobs are of one snapshot of the
 * server, so that they belong together whatever is written meanwhile.
 * @throws when `pg_dump` is missing or fails
 */
export async function takePostgresSnapshot(source: PostgresSource, folder: string): Promise<DatabaseSnapshot> {
  const client = new pg.Client({ connectionString: source.url, connectionTimeoutMillis: connectTimeout });
  // One that breaks fails the next query.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const { rows } = await client.query<{ snapshot: string }>('select pg_export_snapshot() as snapshot');
    await dump(source, join(folder, dumpFile), rows[0]?.snapshot ?? '');
  } catch (error) {
    await client.end();
    throw error;
  }
  return {
    liveBlobs: async (after, limit) => {
      const { rows } = await client.query(
        `select id as "blobId", project_id as "projectId", bytes::float8 as bytes, sha256
         from blob where state = 'live' and id > $1 order by id limit $2`,
        [after, limit],
      );
      return rows;
    },
    close: () => client.end(),
  };
}

/** The password goes by the environment: every user of the machine can read arguments. */
async function dump({ url, environment }: PostgresSource, file: string, snapshot: string): Promise<void> {
  const server = new URL(url);
  const password = decodeURIComponent(server.password);
  server.password = '';
  const args = ['--format=custom', '--no-owner', '--no-privileges', `--snapshot=${snapshot}`, `--file=${file}`];
  const env = { ...environment, ...(password === '' ? {} : { PGPASSWORD: password }) };
  try {
    await promisify(execFile)('pg_dump', [...args, `--dbname=${server.href}`], { env });
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    throw code === 'ENOENT' ? dumpProgramMissing(error) : dumpFailed((stderr ?? String(error)).trim());
  }
}
