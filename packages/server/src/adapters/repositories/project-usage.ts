import { type Kysely, sql, type Transaction } from 'kysely';
import type { ProjectUsage, WrongUsage } from '../../files/file-repository.ts';
import type { Tables } from '../database/tables.ts';

/**
 * Changes the usage of a project's files and locks it until the transaction ends, for all processes. Every transaction
 * calls it before it locks a blob, because another order could cause a deadlock.
 * @returns the new sums
 */
export async function changeUsage(
  transaction: Transaction<Tables>,
  projectId: string,
  change: ProjectUsage,
): Promise<ProjectUsage> {
  const usage = await transaction
    .insertInto('project_usage')
    .values({ project_id: projectId, file_bytes: change.bytes, file_count: change.files })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((set) => ({
        file_bytes: set('project_usage.file_bytes', '+', set.ref('excluded.file_bytes')),
        file_count: set('project_usage.file_count', '+', set.ref('excluded.file_count')),
      })),
    )
    .returning(['file_bytes', 'file_count'])
    .executeTakeFirstOrThrow();
  return { bytes: Number(usage.file_bytes), files: Number(usage.file_count) };
}

/** Returns the bytes that are stored for the records of a project. Records that are being deleted count. */
export async function findRecordBytes(db: Kysely<Tables>, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('record')
    .select(({ fn }) => fn.sum('stored_bytes').as('bytes'))
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0);
}

/** Returns the bytes of the files of a project and of what is stored for its records. */
export async function findUsage(db: Kysely<Tables>, projectId: string): Promise<number> {
  const [files, records] = [await findFileBytes(db, projectId), await findRecordBytes(db, projectId)];
  return files + records;
}

async function findFileBytes(db: Kysely<Tables>, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('project_usage')
    .select('file_bytes')
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return Number(row?.file_bytes ?? 0);
}

/** Uses one statement, so that all values belong to the same moment. */
export async function findWrongUsages(db: Kysely<Tables>): Promise<WrongUsage[]> {
  const none = sql<number>`0`;
  const stored = db
    .selectFrom('project_usage')
    .select([
      'project_id',
      'file_bytes as found',
      none.as('expected'),
      'file_count as found_files',
      none.as('expected_files'),
    ]);
  const created = db
    .selectFrom('file')
    .where('state', '=', 'live')
    .groupBy('project_id')
    .select(({ fn }) => [
      'project_id',
      none.as('found'),
      fn.sum<number>('bytes').as('expected'),
      none.as('found_files'),
      fn.countAll<number>().as('expected_files'),
    ]);
  const rows = await db
    .selectFrom(stored.unionAll(created).as('side'))
    .groupBy('project_id')
    .select(({ fn }) => [
      'project_id',
      fn.sum('found').as('found'),
      fn.sum('expected').as('expected'),
      fn.sum('found_files').as('found_files'),
      fn.sum('expected_files').as('expected_files'),
    ])
    .having(sql<boolean>`sum(found) <> sum(expected) or sum(found_files) <> sum(expected_files)`)
    .orderBy('project_id')
    .execute();
  return rows.map((row) => ({
    projectId: row.project_id,
    expected: Number(row.expected),
    found: Number(row.found),
    expectedFiles: Number(row.expected_files),
    foundFiles: Number(row.found_files),
  }));
}

/** Locks the usage first, so that the computed sums are still correct when they are stored. */
export async function correctUsage(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const found = await changeUsage(transaction, projectId, { bytes: 0, files: 0 });
  const expected = await transaction
    .selectFrom('file')
    .where('project_id', '=', projectId)
    .where('state', '=', 'live')
    .select(({ fn }) => [fn.sum('bytes').as('bytes'), fn.countAll().as('files')])
    .executeTakeFirstOrThrow();
  await changeUsage(transaction, projectId, {
    bytes: Number(expected.bytes ?? 0) - found.bytes,
    files: Number(expected.files) - found.files,
  });
}
