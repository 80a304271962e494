import type { ArchiveRepository } from '../../tools/installation/archive-repository.ts';
import { readPublicKey } from '../../tools/packaging/signatures.ts';
import type { TrustedPublishers } from '../../tools/packaging/trusted-publishers.ts';
import type { Database } from '../database/database.ts';

/** The purpose of the `file` row of an archive. No upload can have it. */
export const archivePurpose = 'bundle';

/** Stores archives of bundles in either database. `createFileRepository` adds and deletes their rows. */
export function createArchiveRepository({ read }: Pick<Database, 'read'>): ArchiveRepository {
  return {
    installedIds: async () => {
      const rows = read
        .selectFrom('bundle_archive')
        .crossJoin('file') // SQLite would read all files with an inner join
        .whereRef('file.id', '=', 'bundle_archive.id')
        .select('file.id');
      const installed = rows.where('file.state', '=', 'live').where('bundle_archive.expires_at', 'is', null);
      return (await installed.orderBy('bundle_archive.id').execute()).map(({ id }) => id);
    },
    list: async () => {
      const rows = await read
        .selectFrom('bundle_archive')
        .crossJoin('file') // SQLite would read all files with an inner join
        .whereRef('file.id', '=', 'bundle_archive.id')
        .select(['file.id', 'file.blob_id', 'file.name', 'file.bytes', 'file.sha256', 'file.created_at'])
        .select(['bundle_archive.bundle_id', 'bundle_archive.facts', 'bundle_archive.expires_at'])
        .where('file.state', '=', 'live')
        .orderBy('bundle_archive.id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        projectId: null,
        blobId: row.blob_id,
        name: row.name,
        bytes: Number(row.bytes),
        sha256: row.sha256,
        createdAt: Number(row.created_at),
        bundleId: row.bundle_id,
        facts: row.facts,
        expiresAt: row.expires_at === null ? null : Number(row.expires_at),
      }));
    },
  };
}

/** Stores the trusted publishers in either database. */
export function createPublisherRepository({ read, write }: Pick<Database, 'read' | 'write'>): TrustedPublishers {
  return {
    list: async () => {
      const rows = await read.selectFrom('trusted_publisher').selectAll().orderBy('key').execute();
      return rows.map(({ key, name }) => ({ key: readPublicKey(key), name }));
    },
    async add({ key, name }) {
      const add = write.insertInto('trusted_publisher').values({ key, name });
      await add.onConflict((conflict) => conflict.column('key').doUpdateSet({ name })).execute();
    },
    remove: async (key) => {
      const { numDeletedRows } = await write
        .deleteFrom('trusted_publisher')
        .where('key', '=', key)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0n;
    },
  };
}
