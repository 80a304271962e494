import { type Kysely, sql, type Transaction } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type { RecordKey } from '../../../stores/collections/records/record-repository.ts';
import type { NewRow, RecordRowRepository, StoredRow } from '../../../stores/collections/records/record-rows.ts';
import { type RowCode, type RowFields, type RowStatus, rowCodes } from '../../../stores/extraction/extraction.ts';
import type { RecordJob } from '../../../stores/ingestion/record-job-repository.ts';
import type { RecordRowTable } from '../../database/collection-tables.ts';
import { bytesOfRow, countBytes } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { type KeysetWindow, readKeysetPage, rowsWithin } from '../../database/keyset-page.ts';
import { countRows } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';

/** Reads the rows of sheets that produced no chunk, in either database. */
export function createRecordRowRepository({ read }: Database): RecordRowRepository {
  return {
    async list(key, status, query) {
      const rowsOf = () => visibleRows(read, key, status);
      const readPage = (window: KeysetWindow) => rowsWithin(rowsOf(), window, { id: 'record_row.id' }).execute();
      const page = await readKeysetPage(query, readPage, () => countRows(read, rowsOf()));
      return { ...page, items: page.items.map(toRow) };
    },
  };
}

/** The generation whose rows are listed: that of the chunks, or after a failure the one that did not become visible. */
const shownGeneration = sql<number>`case when record.status = 'error' then record.generation + 1 else record.generation end`;

function visibleRows(read: Kysely<Tables>, key: RecordKey, status: RowStatus) {
  return read
    .selectFrom('record_row')
    .innerJoin('record', 'record.id', 'record_row.record_id')
    .selectAll('record_row')
    .where('record_row.record_id', '=', key.recordId)
    .where('record_row.status', '=', status)
    .where('record_row.generation', '=', shownGeneration)
    .where('record.collection_id', '=', key.collectionId)
    .where('record.project_id', '=', key.projectId)
    .where('record.status', '<>', 'deleting');
}

/** @returns their bytes */
export async function insertRows(
  transaction: Transaction<Tables>,
  job: RecordJob,
  rows: readonly NewRow[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const values = rows.map(({ id, sheet, row, column, code, excerpt, fields }) => ({
    id,
    record_id: job.id,
    collection_id: job.collectionId,
    generation: job.generation + 1,
    status: rowCodes[code].status,
    code,
    sheet,
    place: row,
    column_name: column,
    excerpt,
    fields: JSON.stringify(fields),
  }));
  await transaction.insertInto('record_row').values(values).execute();
  return countBytes('record_row', values);
}

/**
 * Deletes up to `limit` rows of generations that are not listed.
 * @returns the number of deleted rows and their bytes
 */
export async function sweepRows(
  transaction: Transaction<Tables>,
  { recordId, shown, limit }: { recordId: string; shown: number; limit: number },
): Promise<{ readonly count: number; readonly bytes: number }> {
  const removed = await transaction
    .deleteFrom('record_row')
    .where('id', 'in', (select) =>
      select
        .selectFrom('record_row')
        .select('id')
        .where('record_id', '=', recordId)
        .where((where) => where.or([where('generation', '<', shown), where('generation', '>', shown)]))
        .limit(limit),
    )
    .returning(bytesOfRow.as('bytes'))
    .execute();
  return { count: removed.length, bytes: removed.reduce((sum, { bytes }) => sum + Number(bytes), 0) };
}

function toRow(row: RecordRowTable): StoredRow {
  return {
    id: row.id,
    status: row.status,
    sheet: row.sheet,
    row: row.place,
    column: row.column_name,
    code: row.code as RowCode, // written by insertRows, as are the fields
    excerpt: row.excerpt,
    fields: parseJson(row.fields) as RowFields,
  };
}
