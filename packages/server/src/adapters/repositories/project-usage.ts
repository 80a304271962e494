import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { ProjectUsage, WrongUsage } from '../../files/file-repository.ts';
import { bytesOfChunk } from '../database/chunk-bytes.ts';
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

/**
 * Changes the bytes that are stored for a record, or for the chunks of a project without a record. A record of an earlier
 * version has no bytes until it is processed again, so the sum of a record does not fall below 0.
 */
export async function changeChunkBytes(
  transaction: Transaction<Tables>,
  { projectId, recordId }: { readonly projectId: string; readonly recordId: string | null },
  change: number,
): Promise<void> {
  if (change === 0) return;
  if (recordId !== null) {
    const sum = sql<number>`stored_bytes + ${change}`;
    await transaction
      .updateTable('record')
      .set({ stored_bytes: sql<number>`case when ${sum} < 0 then 0 else ${sum} end` })
      .where('id', '=', recordId)
      .execute();
    return;
  }
  await transaction
    .insertInto('project_usage')
    .values({ project_id: projectId, file_bytes: 0, file_count: 0, chunk_bytes: change })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((set) => ({
        chunk_bytes: set('project_usage.chunk_bytes', '+', set.ref('excluded.chunk_bytes')),
      })),
    )
    .execute();
}

/** Returns the bytes that are stored for the records and chunks of a project. Records and chunks whose deletion is not complete count. */
export async function findRecordBytes(db: Kysely<Tables>, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('record')
    .select(({ fn }) => fn.sum('stored_bytes').as('bytes'))
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return Number(row?.bytes ?? 0) + (await findSums(db, projectId)).chunks;
}

/** Returns the bytes of the files of a project, of what is stored for its records, and of its other chunks. */
export async function findUsage(db: Kysely<Tables>, projectId: string): Promise<number> {
  const [{ files }, records] = [await findSums(db, projectId), await findRecordBytes(db, projectId)];
  return files + records;
}

async function findSums(db: Kysely<Tables>, projectId: string) {
  const row = await db
    .selectFrom('project_usage')
    .select(['file_bytes', 'chunk_bytes'])
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return { files: Number(row?.file_bytes ?? 0), chunks: Number(row?.chunk_bytes ?? 0) };
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
      'chunk_bytes as found_chunks',
      none.as('expected_chunks'),
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
      none.as('found_chunks'),
      none.as('expected_chunks'),
    ]);
  const rows = await db
    .selectFrom(stored.unionAll(created).unionAll(directChunks(db, none)).as('side'))
    .groupBy('project_id')
    .select(({ fn }) => [
      'project_id',
      fn.sum('found').as('found'),
      fn.sum('expected').as('expected'),
      fn.sum('found_files').as('found_files'),
      fn.sum('expected_files').as('expected_files'),
      fn.sum('found_chunks').as('found_chunks'),
      fn.sum('expected_chunks').as('expected_chunks'),
    ])
    .having(
      sql<boolean>`sum(found) <> sum(expected) or sum(found_files) <> sum(expected_files) or sum(found_chunks) <> sum(expected_chunks)`,
    )
    .orderBy('project_id')
    .execute();
  return rows.map((row) => ({
    projectId: row.project_id,
    expected: Number(row.expected),
    found: Number(row.found),
    expectedFiles: Number(row.expected_files),
    foundFiles: Number(row.found_files),
    expectedChunkBytes: Number(row.expected_chunks),
    foundChunkBytes: Number(row.found_chunks),
  }));
}

function directChunks(db: Kysely<Tables>, none: RawBuilder<number>) {
  return db
    .selectFrom('chunk')
    .where('record_id', 'is', null)
    .groupBy('project_id')
    .select(({ fn }) => [
      ...(['project_id'] as const),
      ...[none.as('found'), none.as('expected'), none.as('found_files'), none.as('expected_files')],
      ...[none.as('found_chunks'), fn.sum<number>(bytesOfChunk).as('expected_chunks')],
    ]);
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
  const chunks = await transaction
    .selectFrom('chunk')
    .where('project_id', '=', projectId)
    .where('record_id', 'is', null)
    .select(({ fn }) => fn.sum(bytesOfChunk).as('bytes'))
    .executeTakeFirstOrThrow();
  await changeChunkBytes(
    transaction,
    { projectId, recordId: null },
    Number(chunks.bytes ?? 0) - (await findSums(transaction, projectId)).chunks,
  );
}
