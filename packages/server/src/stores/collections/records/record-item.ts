import {
  type RecordEmbedding,
  type RecordItem,
  type RecordProgress,
  type RecordStage,
  recordStages,
} from '@quartermaster/contract';
import type { DiskSpace } from '../../../platform/disk/disk-space.ts';
import { type EmbeddingOfRecords, readEmbeddings, withEmbedding } from './record-embedding.ts';
import type { StoredRecord } from './record-repository.ts';

export interface RecordItemsDeps {
  /** Null without an embedder. */
  readonly embedding: EmbeddingOfRecords | null;
  /** Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
}

/** Brings records into the format of the API, with the state of their vectors at this time. */
export function createRecordItems({ embedding, space }: RecordItemsDeps) {
  /** All records belong to one collection. */
  async function toItems(stored: readonly StoredRecord[]): Promise<RecordItem[]> {
    const embeddings = await readEmbeddings(embedding, stored);
    return stored.map((record) => toRecordItem(record, embeddings.get(record.id), space?.isLow()));
  }
  return {
    toItems,
    async toItem(record: StoredRecord): Promise<RecordItem> {
      const [item] = await toItems([record]);
      return item as RecordItem; // one record gives one item
    },
  };
}

function toRecordItem(record: StoredRecord, embedding?: RecordEmbedding, waitsForDisk = false): RecordItem {
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
    embedding: embedding ?? null,
    report: withEmbedding(record.report, embedding),
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
