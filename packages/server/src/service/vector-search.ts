import { openBackfill } from '../ingestion/backfill.ts';
import { defaultRetryMs } from '../ingestion/embed-record.ts';
import { startPageBuilder } from '../search/vector-pages/page-builder.ts';
import { createPageSource } from '../search/vector-pages/page-source.ts';
import type { CollectionContext } from './collection-context.ts';

/** Opens the vector index, the embedding stage of records and the backfill. */
export function openVectorSearch(
  deps: CollectionContext,
  timing: { leaseMs: number; pollMs: number; backoffMs: number; maxVectorWaitMs?: number },
) {
  const { embedding, space, clock, newId, logger, repositories } = deps;
  if (embedding === undefined) return null;
  const { embedder } = embedding;
  const { vectors, scales } = repositories;
  const index = embedding.openIndex(createPageSource(vectors.pages));
  const hasFreeSpace = async () => (await space?.hasFreeSpace()) !== false;
  const pageBuilder = startPageBuilder({ pages: vectors.pages, hasFreeSpace, logger });
  const backfill = openBackfill({ ...timing, embedder, vectors, space, clock, newId, logger });
  const maxVectorWaitMs = timing.maxVectorWaitMs ?? defaultRetryMs;
  return {
    deps: {
      ...{ embedder, vectors, scales, index, isReady: backfill.isReady, clock, logger },
      findDefaults: repositories.collections.findRetrieval,
    },
    embedding: { embedder, vectors, space, clock, logger, maxVectorWaitMs },
    backfill,
    /** Called when a chunk was created or changed directly. */
    onVectorMissing(collectionId: string) {
      const adopting = vectors.adopt(collectionId, embedder.model).then(backfill.wake);
      // Embedding is only delayed: the next start marks every collection for the backfill.
      adopting.catch((error: unknown) => logger.warn({ err: error }, 'chunk embedding delayed'));
    },
    ofCollections: {
      model: embedder.model,
      isReady: backfill.isReady,
      async restart(collectionId: string) {
        await vectors.adopt(collectionId, embedder.model);
        await vectors.restart(collectionId, embedder.model);
        backfill.wake();
      },
    },
    close: async () => {
      await Promise.all([backfill.close(), pageBuilder.close()]);
      await index.close();
    },
  };
}
