import type { Transaction } from 'kysely';
import type { RecordKey } from '../../../stores/collections/records/record-repository.ts';
import { bytesOfRecord } from '../../database/counted-bytes.ts';
import type { Tables } from '../../database/tables.ts';
import { growWithin } from '../project-usage.ts';
import { lockCollection, readLocked } from './lock-collection.ts';
import { toSource, waiting } from './source-columns.ts';
import { wantVectors } from './vector-repository.ts';

interface Restoration {
  readonly key: RecordKey;
  readonly now: number;
  readonly deadlineAt: number;
  readonly quota: number | null;
}

/**
 * Undoes the deletion of a record, whose rows still exist: the sweeper claims it later than now, and first notes that it can no
 * longer be restored.
 */
export async function restoreRecord(
  transaction: Transaction<Tables>,
  { key, now, deadlineAt, quota }: Restoration,
): Promise<boolean> {
  if ((await lockCollection(transaction, key.collectionId)) === undefined) return false;
  const row = await transaction
    .selectFrom('record')
    .selectAll()
    .select(bytesOfRecord.as('bytes'))
    .where('id', '=', key.recordId)
    .where('collection_id', '=', key.collectionId)
    .where('project_id', '=', key.projectId)
    .where('status', '=', 'deleting')
    .where('deleted_from', 'is not', null)
    .where('lease_owner', 'is', null)
    .where('run_after', '>', now)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (row === undefined) return false;
  const state =
    row.deleted_from === 'creating'
      ? waiting(now, { source: toSource(row), keyId: row.key_id, deadlineAt })
      : { status: row.deleted_from ?? '', stage: 'sweeping', run_after: now };
  const set = { ...state, generation: -1 - row.generation, deleted_from: null, updated_at: now };
  const rows = transaction.updateTable('record').set(set).where('id', '=', key.recordId);
  const after = await rows.returning(bytesOfRecord.as('bytes')).executeTakeFirstOrThrow();
  if ((await readLocked(transaction, key.collectionId)).hasVectors) {
    // Vectors may have been created for other chunks since, so the walk begins again at the first of this record.
    const chunks = transaction.selectFrom('chunk').select((chunk) => chunk.fn.min('id').as('first'));
    const { first } = await chunks.where('record_id', '=', key.recordId).executeTakeFirstOrThrow();
    if (first !== null) await wantVectors(transaction, key.collectionId, first);
  }
  const bytes = Number(after.bytes) - Number(row.bytes);
  await growWithin(transaction, { projectId: key.projectId, quota }, { what: 'record', bytes });
  return true;
}
