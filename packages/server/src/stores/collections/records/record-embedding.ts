import type { RecordEmbedding } from '@quartermaster/contract';
import type { RecordVectors } from '../../search/vector-repository.ts';
import type { StoredRecord } from './record-repository.ts';

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
export async function readEmbeddings(
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
export function withEmbedding(
  report: StoredRecord['report'],
  embedding: RecordEmbedding | undefined,
): StoredRecord['report'] {
  if (report === null || embedding === undefined) return report;
  const { model, num_embedded: chunks, num_pending: pending, num_refused: refused } = embedding;
  return { ...report, embedding: { model, chunks, pending, refused } };
}
