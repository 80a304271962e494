import { type Kysely, sql, type Transaction } from 'kysely';
import type { WrongUsage } from '../../files/file-repository.ts';
import { bytesOfChunk, bytesOfRow } from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

/** The sums of a project. */
export interface UsageSums {
  readonly files: number;
  /** Bytes of files. */
  readonly bytes: number;
  /** Bytes of the chunks without a record. */
  readonly chunkBytes: number;
  /** Bytes of the chunks and rows of records. */
  readonly recordBytes: number;
}

const columns = ['file_count', 'file_bytes', 'chunk_bytes', 'record_bytes'] as const;

/**
 * Changes the sums of a project and locks them until the transaction ends, for all processes. A transaction that adds or
 * deletes files calls it before it locks a blob; every other one calls it after its last other lock. Another order could
 * cause a deadlock.
 * @returns the new sums
 */
export async function changeUsage(
  transaction: Transaction<Tables>,
  projectId: string,
  { files = 0, bytes = 0, chunkBytes = 0, recordBytes = 0 }: Partial<UsageSums>,
): Promise<UsageSums> {
  const change = { file_count: files, file_bytes: bytes, chunk_bytes: chunkBytes, record_bytes: recordBytes };
  const usage = await transaction
    .insertInto('project_usage')
    .values({ project_id: projectId, ...change })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((set) => ({
        file_count: set('project_usage.file_count', '+', set.ref('excluded.file_count')),
        file_bytes: set('project_usage.file_bytes', '+', set.ref('excluded.file_bytes')),
        chunk_bytes: set('project_usage.chunk_bytes', '+', set.ref('excluded.chunk_bytes')),
        record_bytes: set('project_usage.record_bytes', '+', set.ref('excluded.record_bytes')),
      })),
    )
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toSums(usage);
}

function toSums(row: Readonly<Record<(typeof columns)[number], number>> | undefined): UsageSums {
  return {
    files: Number(row?.file_count ?? 0),
    bytes: Number(row?.file_bytes ?? 0),
    chunkBytes: Number(row?.chunk_bytes ?? 0),
    recordBytes: Number(row?.record_bytes ?? 0),
  };
}

/**
 * Changes the bytes of the visible chunks of a record, or of the chunks of a project without a record.
 * @returns the bytes that the project then uses
 */
export async function changeChunkBytes(
  transaction: Transaction<Tables>,
  { projectId, recordId }: { readonly projectId: string; readonly recordId: string | null },
  change: number,
): Promise<number> {
  if (recordId !== null) {
    await transaction
      .updateTable('record')
      .set((record) => ({ stored_bytes: record('stored_bytes', '+', change) }))
      .where('id', '=', recordId)
      .execute();
  }
  return totalOf(
    await changeUsage(transaction, projectId, { [recordId === null ? 'chunkBytes' : 'recordBytes']: change }),
  );
}

export const totalOf = ({ bytes, chunkBytes, recordBytes }: UsageSums) => bytes + chunkBytes + recordBytes;

/** Returns the bytes of the files of a project, of what is stored for its records, and of its other chunks. */
export async function findUsage(db: Kysely<Tables>, projectId: string): Promise<number> {
  const rows = db.selectFrom('project_usage').select(columns);
  return totalOf(toSums(await rows.where('project_id', '=', projectId).executeTakeFirst()));
}

const chunksOfRecord = sql<number>`(select coalesce(sum(${bytesOfChunk}), 0) from chunk
  where chunk.record_id = record.id and chunk.generation = record.generation)`;
const rowsOfRecord = sql<number>`(select coalesce(sum(${bytesOfRow}), 0) from record_row where record_row.record_id = record.id)`;
/** The sums of a record that is being deleted are subtracted when it is removed, after its chunks. */
const isWrong = sql<boolean>`(record.status <> 'deleting'
  and (record.stored_bytes <> ${chunksOfRecord} or record.row_bytes <> ${rowsOfRecord}))`;

/** Uses one statement, so that all values belong to the same moment. */
export async function findWrongUsages(db: Kysely<Tables>): Promise<WrongUsage[]> {
  const { rows } = await sql<Record<string, string | number> & { project_id: string }>`
    select project_id,
      sum(file_bytes) as file_bytes, sum(stored_file_bytes) as stored_file_bytes,
      sum(files) as files, sum(stored_files) as stored_files,
      sum(chunk_bytes) as chunk_bytes, sum(stored_chunk_bytes) as stored_chunk_bytes,
      sum(record_bytes) as record_bytes, sum(stored_record_bytes) as stored_record_bytes, sum(wrong) as wrong
    from (
      select project_id, 0 as file_bytes, file_bytes as stored_file_bytes, 0 as files, file_count as stored_files,
        0 as chunk_bytes, chunk_bytes as stored_chunk_bytes, 0 as record_bytes, record_bytes as stored_record_bytes, 0 as wrong
      from project_usage
      union all select project_id, bytes, 0, 1, 0, 0, 0, 0, 0, 0 from file where state = 'live'
      union all select project_id, 0, 0, 0, 0, ${bytesOfChunk}, 0, 0, 0, 0 from chunk where record_id is null
      union all select project_id, 0, 0, 0, 0, 0, 0, stored_bytes + row_bytes, 0, case when ${isWrong} then 1 else 0 end
      from record
    ) as side
    group by project_id
    having sum(file_bytes) <> sum(stored_file_bytes) or sum(files) <> sum(stored_files) or sum(wrong) > 0
      or sum(chunk_bytes) <> sum(stored_chunk_bytes) or sum(record_bytes) <> sum(stored_record_bytes)
    order by project_id`.execute(db);
  return rows.map((row) => ({
    projectId: row.project_id,
    expected: Number(row.file_bytes),
    found: Number(row.stored_file_bytes),
    expectedFiles: Number(row.files),
    foundFiles: Number(row.stored_files),
    expectedChunkBytes: Number(row.chunk_bytes),
    foundChunkBytes: Number(row.stored_chunk_bytes),
    expectedRecordBytes: Number(row.record_bytes),
    foundRecordBytes: Number(row.stored_record_bytes),
    wrongRecords: Number(row.wrong),
  }));
}

/** Computes the sums of the wrong records of a project again, then those of the project. */
export async function correctUsage({ read, write }: Database, projectId: string): Promise<void> {
  const wrong = read.selectFrom('record').select('id').where('project_id', '=', projectId).where(isWrong);
  for (const { id } of await wrong.execute()) {
    await write.transaction().execute(async (transaction) => {
      const record = transaction.updateTable('record').where('id', '=', id).where('status', '<>', 'deleting');
      // Locks the record first, so that the computed sums are still correct when they are stored.
      await record.set((row) => ({ stored_bytes: row.ref('stored_bytes') })).execute();
      await record.set({ stored_bytes: chunksOfRecord, row_bytes: rowsOfRecord }).execute();
    });
  }
  await write.transaction().execute((transaction) => correctSums(transaction, projectId));
}

/** Locks the sums first, so that the computed ones are still correct when they are stored. */
async function correctSums(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  const found = await changeUsage(transaction, projectId, {});
  const { rows } = await sql<Readonly<Record<keyof UsageSums, number>>>`select
    (select count(*) from file where project_id = ${projectId} and state = 'live') as files,
    (select coalesce(sum(bytes), 0) from file where project_id = ${projectId} and state = 'live') as bytes,
    (select coalesce(sum(${bytesOfChunk}), 0) from chunk where project_id = ${projectId} and record_id is null) as "chunkBytes",
    (select coalesce(sum(stored_bytes + row_bytes), 0) from record where project_id = ${projectId}) as "recordBytes"`.execute(
    transaction,
  );
  const names = Object.keys(found) as Array<keyof UsageSums>; // of toSums
  const changes = names.map((name) => [name, Number(rows[0]?.[name]) - found[name]]);
  await changeUsage(transaction, projectId, Object.fromEntries(changes));
}
