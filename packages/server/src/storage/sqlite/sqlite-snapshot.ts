import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { type DatabaseSnapshot, mostNamedFiles, type SnapshotBlob } from '../../platform/database-snapshot.ts';
import { readProject } from '../../platform/project-text.ts';
import { databaseDamaged } from '../database/problems.ts';
import { assertSqliteStore, sqliteFile } from './sqlite-database.ts';

/**
 * More pages than any database has. A single step copies one state, whereas a write between two steps would restart the
 * copy.
 */
const allPages = 2 ** 31 - 1;
/** Milliseconds to wait for a lock of another process. */
const busyTimeout = 10_000;

/**
 * Copies the database of a data folder into another folder, as one file without a log, and checks the copy. The service
 * may run in the meantime without delay. The tables stay unchanged, including those of another version.
 * @throws when there is no database, or the copy is damaged
 */
export async function takeSqliteSnapshot(
  dataFolder: string,
  folder: string,
  check: 'quick_check' | 'integrity_check' = 'quick_check',
): Promise<DatabaseSnapshot> {
  const original = join(dataFolder, sqliteFile);
  await assertSqliteStore(dataFolder);
  const file = join(folder, sqliteFile);
  await rm(file, { force: true });
  const source = new DatabaseSync(original, { readOnly: true, timeout: busyTimeout });
  try {
    await backup(source, file, { rate: allPages });
  } finally {
    source.close();
  }
  await chmod(file, 0o600);
  const copy = new DatabaseSync(file);
  try {
    // In this mode, reading the copy leaves no other file behind.
    copy.exec('pragma journal_mode = delete');
    const findings = copy.prepare(`pragma ${check}(10)`).all().flatMap(Object.values).map(String);
    if (findings.join() !== 'ok') throw databaseDamaged(findings);
  } catch (error) {
    copy.close();
    throw error;
  }
  const blobs = copy.prepare(
    `select id as "blobId", project_id as project, bytes, sha256,
       (select json_group_array(json_object('fileId', id, 'name', name)) from (select id, name from file
         where blob_id = blob.id and state = 'live' order by id limit ${mostNamedFiles})) as files
     from blob where state = 'live' and id > ? order by id limit ?`,
  );
  // A store of an earlier version has fewer columns.
  const { id, blobs_place } = copy.prepare('select * from store').get() ?? {};
  return {
    store: { id: String(id), blobsPlace: typeof blobs_place === 'string' ? blobs_place : null },
    liveBlobs: async (after, limit) => {
      // The type follows the columns of the statement above.
      const rows = blobs.all(after, limit) as unknown as ReadonlyArray<
        Omit<SnapshotBlob, 'projectId'> & { readonly project: string; readonly files: string }
      >;
      return rows.map(({ project, ...row }) => ({
        ...row,
        projectId: readProject(project),
        files: JSON.parse(row.files),
      }));
    },
    close: async () => copy.close(),
  };
}
