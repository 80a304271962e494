import type { RecordListQuery } from '@quartermaster/contract';
import { sql } from 'kysely';
import type { Total } from '../../../platform/page.ts';
import { countRows } from '../../database/count-rows.ts';
import type { Database } from '../../database/database.ts';
import { ofContent, ofName } from './record-filters.ts';

/**
 * Counts the records of a list. Without a name and a hash, it reads only the index of statuses: in a row, the text of the
 * record precedes the status, and SQLite would read it.
 */
export function countRecords(
  { read, dialect }: Pick<Database, 'read' | 'dialect'>,
  { projectId, collectionId }: { readonly projectId: string; readonly collectionId: string },
  { status, name, sha256 }: RecordListQuery,
): Promise<Total> {
  const collection = read.selectFrom('collection').select('id').where('id', '=', collectionId);
  const ofProject = collection.where('project_id', '=', projectId);
  const hasStatus =
    status === undefined ? sql<boolean>`record.status <> 'deleting'` : sql<boolean>`record.status = ${status}`;
  const hasName = name === undefined ? [] : [ofName(name, dialect)];
  if (sha256 !== undefined) {
    const ofFiles = read.selectFrom('record').where(ofContent(sha256, projectId));
    return countRows(read, ofFiles, [sql<boolean>`record.collection_id in (${ofProject})`, hasStatus, ...hasName]);
  }
  const ofCollection = read.selectFrom('record').where('collection_id', '=', ofProject);
  const rows = status === undefined ? ofCollection : ofCollection.where('status', '=', status);
  const ordered = name === undefined ? rows.orderBy('status').orderBy('id') : rows.orderBy('id', 'desc');
  return countRows(read, ordered, [...(status === undefined ? [hasStatus] : []), ...hasName]);
}
