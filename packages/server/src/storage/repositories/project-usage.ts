import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { projectText, readProject } from '../../platform/project-text.ts';
import { noRoomInQuota } from '../../stores/collections/problems.ts';
import type { WrongUsage } from '../../stores/files/file-repository.ts';
import {
  bytesOfChunk,
  bytesOfCollection,
  bytesOfFileName,
  bytesOfRecord,
  bytesOfRow,
} from '../database/counted-bytes.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';

/** The sums of a project. */
export interface UsageSums {
  readonly files: number;
  /** Bytes of files. */
  readonly bytes: number;
  /** Bytes of the chunks without a record. */
  readonly chunkBytes: number;
  /** Bytes of records with their chunks and rows. */
  readonly recordBytes: number;
  /** Bytes of the texts of collections, and of the names of files. */
  readonly textBytes: number;
}

const columns = ['file_count', 'file_bytes', 'chunk_bytes', 'record_bytes', 'text_bytes'] as const;

/**
 * Changes the sums of a project and locks them until the transaction ends, for all nodes. A transaction calls it after its last
 * other lock, so that others wait for one answer of the database at most. Another order could also cause a deadlock.
 * @returns the new sums
 */
export async function changeUsage(
  transaction: Transaction<Tables>,
  projectId: string | null,
  { files = 0, bytes = 0, chunkBytes = 0, recordBytes = 0, textBytes = 0 }: Partial<UsageSums>,
): Promise<UsageSums> {
  const change = {
    file_count: files,
    file_bytes: bytes,
    chunk_bytes: chunkBytes,
    record_bytes: recordBytes,
    text_bytes: textBytes,
  };
  const usage = await transaction
    .insertInto('project_usage')
    .values({ project_id: projectText(projectId), ...change })
    .onConflict((conflict) =>
      conflict.column('project_id').doUpdateSet((set) => ({
        file_count: set('project_usage.file_count', '+', set.ref('excluded.file_count')),
        file_bytes: set('project_usage.file_bytes', '+', set.ref('excluded.file_bytes')),
        chunk_bytes: set('project_usage.chunk_bytes', '+', set.ref('excluded.chunk_bytes')),
        record_bytes: set('project_usage.record_bytes', '+', set.ref('excluded.record_bytes')),
        text_bytes: set('project_usage.text_bytes', '+', set.ref('excluded.text_bytes')),
      })),
    )
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toSums(usage);
}

/**
 * PostgreSQL only: changes records and the sums of their project with one statement. Without a quota, nothing needs the sums.
 * @param change a statement that returns `project_id` and `record_bytes`
 * @returns false when it has changed no record
 */
export async function changeWithUsage(db: Kysely<Tables>, change: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`
    with changed as (${change})
    insert into project_usage (project_id, ${sql.join(columns.map((name) => sql.ref(name)))})
    select project_id, 0, 0, 0, record_bytes, 0 from changed
    on conflict (project_id) do update set record_bytes = project_usage.record_bytes + excluded.record_bytes
    returning project_id`.execute(db);
  return rows.length > 0;
}

function toSums(row: Readonly<Record<(typeof columns)[number], number>> | undefined): UsageSums {
  return {
    files: Number(row?.file_count ?? 0),
    bytes: Number(row?.file_bytes ?? 0),
    chunkBytes: Number(row?.chunk_bytes ?? 0),
    recordBytes: Number(row?.record_bytes ?? 0),
    textBytes: Number(row?.text_bytes ?? 0),
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

/**
 * Checks the quota after a row has grown by `bytes`, which `used` contains.
 * @throws RESOURCE_LIMIT_REACHED when the project exceeds its quota
 */
export function checkRoom(
  what: 'chunk' | 'record' | 'collection',
  { used, bytes, quota }: { readonly used: number; readonly bytes: number; readonly quota: number | null },
): void {
  if (quota !== null && bytes > 0 && used > quota) throw noRoomInQuota(what, Math.max(0, quota - used + bytes));
}

/** A project and the maximum number of its bytes; null without a limit. */
export interface InProject {
  readonly projectId: string;
  readonly quota: number | null;
}

/** Adds the bytes of a record or collection to the sums. @throws RESOURCE_LIMIT_REACHED as `checkRoom` */
export async function growWithin(
  transaction: Transaction<Tables>,
  { projectId, quota }: InProject,
  { what, bytes }: { readonly what: 'record' | 'collection'; readonly bytes: number },
): Promise<void> {
  if (bytes === 0) return;
  const change = what === 'record' ? { recordBytes: bytes } : { textBytes: bytes };
  checkRoom(what, { used: totalOf(await changeUsage(transaction, projectId, change)), bytes, quota });
}

export const totalOf = ({ bytes, chunkBytes, recordBytes, textBytes }: UsageSums) =>
  bytes + chunkBytes + recordBytes + textBytes;

/** Returns all bytes of a project that count in its quota. */
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

/** Selects what the sums of each project must be, by row. */
const countedRows = sql`
  select project_id, 1 as file_count, bytes as file_bytes, 0 as chunk_bytes, 0 as record_bytes, ${bytesOfFileName} as text_bytes
    from file where state = 'live'
  union all select project_id, 0, 0, ${bytesOfChunk}, 0, 0 from chunk where record_id is null
  union all select project_id, 0, 0, 0, stored_bytes + row_bytes + ${bytesOfRecord}, 0 from record
  union all select project_id, 0, 0, 0, 0, ${bytesOfCollection} from collection`;

/** Uses one statement, so that all values belong to the same moment. */
export async function findWrongUsages(db: Kysely<Tables>): Promise<WrongUsage[]> {
  const none = sql.join(columns.map(() => sql`0`));
  const stored = (name: string) => sql.ref(`stored_${name}`);
  const sums = columns.map(
    (name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}, sum(${stored(name)}) as ${stored(name)}`,
  );
  const differences = columns.map((name) => sql`sum(${sql.ref(name)}) <> sum(${stored(name)})`);
  const { rows } = await sql<Record<string, string | number> & { project_id: string }>`
    select project_id, ${sql.join(sums)}, sum(wrong) as wrong
    from (
      select counted.*, ${sql.join(columns.map((name) => sql`0 as ${stored(name)}`))}, 0 as wrong from (${countedRows}) as counted
      union all select project_id, ${none}, ${sql.join(columns.map((name) => sql.ref(name)))}, 0 from project_usage
      union all select project_id, ${none}, ${none}, 1 from record where ${isWrong}
    ) as side
    group by project_id
    having ${sql.join(differences, sql` or `)} or sum(wrong) > 0
    order by project_id`.execute(db);
  return rows.map((row) => ({
    projectId: readProject(row.project_id),
    expected: Number(row.file_bytes),
    found: Number(row.stored_file_bytes),
    expectedFiles: Number(row.file_count),
    foundFiles: Number(row.stored_file_count),
    expectedChunkBytes: Number(row.chunk_bytes),
    foundChunkBytes: Number(row.stored_chunk_bytes),
    expectedRecordBytes: Number(row.record_bytes),
    foundRecordBytes: Number(row.stored_record_bytes),
    expectedTextBytes: Number(row.text_bytes),
    foundTextBytes: Number(row.stored_text_bytes),
    wrongRecords: Number(row.wrong),
  }));
}

/** Computes the sums of the wrong records of a project again, then those of the project. */
export async function correctUsage({ read, write }: Database, projectId: string | null): Promise<void> {
  const wrong = read.selectFrom('record').select('id').where('project_id', '=', projectText(projectId)).where(isWrong);
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
async function correctSums(transaction: Transaction<Tables>, projectId: string | null): Promise<void> {
  const found = await changeUsage(transaction, projectId, {});
  const sums = columns.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`);
  const { rows } = await sql<Readonly<Record<(typeof columns)[number], number>>>`
    select ${sql.join(sums)} from (${countedRows}) as counted where project_id = ${projectText(projectId)}`.execute(
    transaction,
  );
  const right = toSums(rows[0]);
  const names = Object.keys(found) as Array<keyof UsageSums>; // of toSums
  await changeUsage(transaction, projectId, Object.fromEntries(names.map((name) => [name, right[name] - found[name]])));
}
