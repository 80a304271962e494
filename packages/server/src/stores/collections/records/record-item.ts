import {
  type RecordEmbedding,
  type RecordItem,
  type RecordProgress,
  type RecordStage,
  recordStages,
} from '@quartermaster/contract';
import type { DiskSpace } from '../../../platform/disk/disk-space.ts';
import type { RecordVectors } from '../../search/vector-repository.ts';
import type { StoredRecord } from './record-repository.ts';

export interface RecordItemsDeps {
  /** Returns null without an embedder. */
  readonly embedding: () => EmbeddingOfRecords | null;
  /** Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
}

/** Brings records into the format of the API, with the state of their vectors at this time. */
export function createRecordItems({ embedding, space }: RecordItemsDeps) {
  /** All records belong to one collection. */
  async function toItems(stored: readonly StoredRecord[]): Promise<RecordItem[]> {
    const embeddings = await readEmbeddings(embedding(), stored);
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

export interface EmbeddingOfRecords {
  /**
   * Returns the model of the collection and the vectors that it has created. Records without vectors and without failed
   * attempts may be omitted.
   */
  count(
    collectionId: string,
    recordIds: readonly string[],
  ): Promise<{ readonly model: string; readonly vectors: ReadonlyMap<string, RecordVectors> }>;
}

/** Returns the state of the vectors of each record at this time. Records without visible chunks have none. */
async function readEmbeddings(
  embedding: EmbeddingOfRecords | null,
  records: readonly StoredRecord[],
): Promise<ReadonlyMap<string, RecordEmbedding>> {
  const withChunks = records.filter(({ numChunks }) => numChunks > 0);
  const [first] = withChunks;
  if (embedding === null || first === undefined) return new Map();
  const { model, vectors } = await embedding.count(
    first.collectionId,
    withChunks.map(({ id }) => id),
  );
  return new Map(
    withChunks.map(({ id, numChunks }) => {
      const { embedded, refused, tokens, reason } = vectors.get(id) ?? none;
      const num_pending = Math.max(0, numChunks - embedded - refused);
      return [id, { model, num_embedded: embedded, num_pending, num_refused: refused, num_tokens: tokens, reason }];
    }),
  );
}

/** What is known about a record without vectors. */
const none = { embedded: 0, refused: 0, tokens: 0, reason: null };

/** Adds the current state of the vectors to the report, if there is an embedder. */
function withEmbedding(report: StoredRecord['report'], embedding: RecordEmbedding | undefined): StoredRecord['report'] {
  if (report === null || embedding === undefined) return report;
  const { model, num_embedded: chunks, num_pending: pending, num_refused: refused } = embedding;
  return { ...report, embedding: { model, chunks, pending, refused } };
}
