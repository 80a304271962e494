import { openBackfill } from '../ingestion/backfill.ts';
import { shareEmbedder } from '../search/embedding/share-embedder.ts';
import { startPageBuilder } from '../search/vector-pages/page-builder.ts';
import { createPageSource } from '../search/vector-pages/page-source.ts';
import type { CollectionContext } from './collection-context.ts';

/** The longest pause of an embedder that fails, in milliseconds. */
const longestPauseMs = 5 * 60_000;

/** Opens the vector index and the backfill, which share one embedder with the questions. */
export function openVectorSearch(
  deps: CollectionContext,
  timing: { leaseMs: number; pollMs: number; backoffMs: number },
) {
  const { embedding, space, clock, newId, logger, repositories } = deps;
  if (embedding === undefined) return null;
  const { vectors, scales } = repositories;
  const embedder = shareEmbedder(embedding.embedder, {
    pauses: { firstMs: timing.backoffMs, longestMs: longestPauseMs },
    onRecovered: () => backfill.wake(),
  });
  const index = embedding.openIndex(createPageSource(vectors.pages));
  const hasFreeSpace = async () => (await space?.hasFreeSpace()) !== false;
  const pageBuilder = startPageBuilder({ pages: vectors.pages, hasFreeSpace, logger });
  const backfill = openBackfill({ ...timing, embedder, vectors, space, clock, newId, logger });
  embedding.observe?.({ isPaused: embedder.isPaused, countBacklog: () => vectors.countBacklog(embedder.model) });
  return {
    deps: {
      ...{ embedder, vectors, scales, index, isReady: backfill.isReady, clock, logger },
      findDefaults: repositories.collections.findRetrieval,
    },
    backfill,
    adoptModel: (collectionId: string) => vectors.adopt(collectionId, embedder.model),
    /** Called when a chunk was created or changed directly. */
    onVectorMissing(collectionId: string) {
      const adopting = vectors.adopt(collectionId, embedder.model).then(backfill.wake);
      // Embedding is only delayed: the next start marks every collection for the backfill.
      adopting.catch((error: unknown) => logger.warn({ err: error }, 'chunk embedding delayed'));
    },
    ofRecords: {
      model: embedder.model,
      count: (collectionId: string, recordIds: readonly string[]) =>
        vectors.countOfRecords({ collectionId, model: embedder.model }, recordIds),
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
