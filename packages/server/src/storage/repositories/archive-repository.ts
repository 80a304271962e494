import type { ArchiveRepository } from '../../tools/installation/archive-repository.ts';
import type { Database } from '../database/database.ts';

/** The purpose of the `file` row of an archive. No upload can have it. */
export const archivePurpose = 'bundle';

/** Stores archives of bundles in either database. `createFileRepository` adds and deletes their rows. */
export function createArchiveRepository({ read }: Pick<Database, 'read'>): ArchiveRepository {
  return {
    list: async () => {
      const rows = await read
        .selectFrom('bundle_archive')
        .innerJoin('file', 'file.id', 'bundle_archive.id')
        .select(['file.id', 'file.blob_id', 'file.name', 'file.bytes', 'file.sha256', 'file.created_at'])
        .select(['bundle_archive.bundle_id', 'bundle_archive.facts', 'bundle_archive.expires_at'])
        .where('file.state', '=', 'live')
        .orderBy('file.id')
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
