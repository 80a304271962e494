import type { ChunkFilter } from '../../stores/search/chunk-index.ts';
import {
  allowRecords,
  listFiles,
  mostAllowedRecords,
  mostRecordsOfFiles,
  type RecordOfFile,
  type Restriction,
  toRestriction,
} from '../../stores/search/restriction.ts';
import type { ThreadStatements } from './thread-statements.ts';

/** Returns the chunks that may meet a filter; null when all may. */
export function restrictQuestion(
  statements: ThreadStatements,
  collectionId: string,
  filter: ChunkFilter,
): Restriction | null {
  const files = listFiles(filter);
  const restriction = toRestriction(filter, files && findRecordsOfFiles(statements, collectionId, files));
  return restriction && allowChanged(statements, collectionId, restriction);
}

/** Without the plus sign, SQLite may read all records of the collection. */
function findRecordsOfFiles(statements: ThreadStatements, collectionId: string, files: readonly string[]) {
  if (files.length === 0) return [];
  const rows = statements.all<RecordOfFile>(
    `select record.id as recordId, record.file_id as fileId from json_each(?) as file
      cross join record on record.file_id = file.value where +record.collection_id = ? limit ?`,
    ...[JSON.stringify(files), collectionId, mostRecordsOfFiles + 1],
  );
  return rows.length > mostRecordsOfFiles ? null : rows;
}

/** The entries of records that have changed since may differ from the terms of their chunks. */
function allowChanged(statements: ThreadStatements, collectionId: string, restriction: Restriction) {
  const rows = statements.all<{ id: string }>(
    'select id from record where collection_id = ? and metadata_changed > 0 limit ?',
    ...[collectionId, mostAllowedRecords + 1],
  );
  return allowRecords(
    restriction,
    rows.map(({ id }) => id),
  );
}
