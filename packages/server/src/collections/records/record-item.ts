import { type RecordItem, type RecordProgress, type RecordStage, recordStages } from '@quartermaster/contract';
import type { StoredRecord } from './record-repository.ts';

/** A record in the format of the API. */
export function toRecordItem(record: StoredRecord, waitsForDisk = false): RecordItem {
  return {
    object: 'Record',
    record_id: record.id,
    collection_id: record.collectionId,
    title: record.title,
    status: record.status,
    num_chunks: record.numChunks,
    type: record.type,
    content: record.content,
    metadata: record.metadata,
    progress: toProgress(record, waitsForDisk),
    error: record.error,
    report: record.report,
    updated_timestamp: record.updatedAt,
    created_timestamp: record.createdAt,
  };
}

/**
 * null unless a worker processes the record or will do so. While the disk is nearly full no worker does. This is computed here, not
 * stored, because storing it would need disk space.
 */
export function toProgress(record: StoredRecord, waitsForDisk = false): RecordProgress | null {
  if (record.status !== 'creating') return null;
  if (waitsForDisk) return { stage: 'waiting_for_disk', percent: record.percent, attempt: record.attempt };
  const stage = recordStages.find((known): known is RecordStage => known === record.stage) ?? 'queued';
  return { stage, percent: record.percent, attempt: record.attempt };
}
