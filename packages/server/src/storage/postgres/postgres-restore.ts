import { join } from 'node:path';
import { databaseNotEmpty } from '../database/problems.ts';
import { connect, type PostgresTarget, runProgram } from './postgres-programs.ts';
import { dumpFile } from './postgres-snapshot.ts';

/** Throws when the database already contains a store. */
export async function assertEmpty({ url }: Pick<PostgresTarget, 'url'>): Promise<void> {
  const client = await connect(url);
  try {
    const { rows } = await client.query(`select to_regclass('schema_migration') is not null as used`);
    if (rows[0]?.used === true) throw databaseNotEmpty();
  } finally {
    await client.end();
  }
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
