import type { ListQuery } from '@quartermaster/contract';
import { emptyPage } from '../../platform/page.ts';
import { openBackfill } from '../../stores/ingestion/backfill.ts';
import type { Embedder } from '../../stores/search/embedding/embedder.ts';
import { createEmbedders, type Embedders, toModelId } from '../../stores/search/embedding/embedders.ts';
import { type SharedEmbedder, shareEmbedder } from '../../stores/search/embedding/share-embedder.ts';
import { tryModelSoon } from '../../stores/search/embedding/try-model.ts';
import type { VectorIndex } from '../../stores/search/embedding/vector-index.ts';
import type { VectorRepository } from '../../stores/search/vector-repository.ts';
import type { CollectionContext, EmbeddingParts } from './collection-context.ts';

/** The longest pause of an embedder that fails, in milliseconds. */
const longestPauseMs = 5 * 60_000;

/** By then, the collection whose texts have failed has the reason of its own failure. */
const ownReasonMs = 2_000;

interface Timing {
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly backoffMs: number;
}

/** Opens the search by vectors, whose models can be exchanged while questions are answered. The index stays open. */
export function openVectorSearch(deps: CollectionContext, timing: Timing) {
  let index: VectorIndex | undefined;
  const open = (embedding: EmbeddingParts | undefined) => {
    if (embedding === undefined) return null;
    index ??= embedding.openIndex(deps.repositories.vectors.readAfter);
    return openModels({ ...deps, embedding, index }, timing);
  };
  let current = open(deps.embedding);
  return {
    /** What the present models offer; null without one. */
    current: () => current,
    /** Ends the backfills of the former models before those of the new ones start, because both may have a model in common. */
    async exchange(embedding: EmbeddingParts | undefined): Promise<void> {
      await current?.close();
      current = open(embedding);
    },
    async close(): Promise<void> {
      await current?.close();
      await index?.close();
    },
  };
}

interface ModelContext extends CollectionContext {
  readonly embedding: EmbeddingParts;
  readonly index: VectorIndex;
}

/** Opens a backfill for each model, which shares its embedder with the questions. */
function openModels({ embedding, index, ...deps }: ModelContext, timing: Timing) {
  const { space, clock, newId, logger, repositories, admission } = deps;
  const { vectors, scales } = repositories;
  const share = (embedder: Embedder) =>
    shareEmbedder(embedder, {
      pauses: { firstMs: timing.backoffMs, longestMs: longestPauseMs },
      onRecovered: () => backfills.wake(),
      admission,
    });
  const embedders = createEmbedders(share(embedding.embedder), embedding.furtherEmbedders.map(share));
  const context = { ...timing, alone: deps.alone ?? false, vectors, space, clock, newId, logger };
  const backfills = openBackfills(embedders, { ...context, formerModel: embedding.formerModel });
  const tryNow = (embedder: SharedEmbedder) =>
    tryModelSoon({ embedQuestion: embedder.embedNow }, embedding.dimensionsOf?.(embedder.model) ?? null);
  embedding.observe?.({
    isPaused: () => embedders.all.some((each) => each.isPaused()),
    countBacklog: () => countBacklog(vectors, embedders),
  });
  return {
    deps: {
      embedders,
      vectors,
      scales,
      index,
      isReady: backfills.isReady,
      admission,
      clock,
      logger,
      findDefaults: repositories.collections.findRetrieval,
    },
    wake: backfills.wake,
    adoptModel: (collectionId: string) => vectors.adopt(collectionId, embedders.first.model),
    /** Called when a chunk was created or changed directly. */
    onVectorMissing(collectionId: string) {
      const adopting = vectors.adopt(collectionId, embedders.first.model).then(backfills.wake);
      // Embedding is only delayed: the next start marks every collection for the backfill.
      adopting.catch((error: unknown) => logger.warn({ err: error }, 'chunk embedding delayed'));
    },
    ofRecords: {
      async count(collectionId: string, recordIds: readonly string[]) {
        const stored = await vectors.find(collectionId);
        const { model } = (stored && embedders.find(stored.model)) ?? embedders.first;
        const slot = stored?.slot ?? 0;
        return { model, vectors: await vectors.countOfRecords({ collectionId, slot, model }, recordIds) };
      },
    },
    ofCollections: {
      firstModel: embedders.first.model,
      hasModel: (model: string) => embedders.find(model) !== undefined,
      dimensionsOf: (model: string) => embedders.find(model)?.dimensions() ?? null,
      pauseOf(model: string) {
        const pause = embedders.find(model)?.findPause() ?? null;
        if (pause === null || pause.sinceMs < ownReasonMs) return null;
        const at = clock.now();
        const [since, remaining] = [pause.sinceMs, pause.remainingMs].map(Math.round) as [number, number];
        return { reason: pause.reason, at: at - since, retryAt: at + remaining };
      },
      isReady: backfills.isReady,
      modelIds: embedders.all.map(({ model }) => toModelId(model)),
      findModel(modelId: string | undefined) {
        const embedder = modelId === undefined ? embedders.first : embedders.findById(modelId);
        if (embedder === undefined) return undefined;
        const { model } = embedder;
        const reembed = async (collectionId: string) => {
          await vectors.adopt(collectionId, model);
          await vectors.prepare(collectionId, model, embedder.dimensions());
          backfills.wake();
        };
        const tryOut = () => tryNow(embedder);
        const price = embedding.priceOf?.(model) ?? null;
        return { model, dimensions: embedder.dimensions, price, reembed, tryOut };
      },
      wake: backfills.wake,
    },
    ofFailures: {
      async list(collectionId: string, query: ListQuery) {
        const live = await vectors.find(collectionId);
        return live === undefined ? emptyPage(query) : vectors.listFailures(live, query);
      },
      async retry(collectionId: string) {
        await vectors.retryFailures(collectionId, clock.now());
        logger.info({ collection_id: collectionId }, 'failed texts requeued');
        backfills.wake();
        const live = await vectors.find(collectionId);
        const embedder = live && embedders.find(live.model);
        // Nobody waits for it. A success ends the pause, and the backfill continues.
        if (embedder?.isPaused() === true) void tryNow(embedder).catch(() => {});
      },
    },
    /** Counts the collections of the first model, and those of them that may lack vectors. Null until they are known. */
    countCollections: async () => (backfills.isReady() ? await vectors.countCollections(embedders.first.model) : null),
    close: backfills.close,
  };
}

type BackfillContext = Omit<Parameters<typeof openBackfill>[0], 'embedder' | 'adoptsCollections'>;

/** Opens a backfill for each model. Collections without a model, and those of the former model, get the first one. */
function openBackfills(embedders: Embedders<SharedEmbedder>, { formerModel, ...context }: BackfillContext) {
  const all = embedders.all.map((embedder) => {
    const isFirst = embedder === embedders.first;
    const adopting = { adoptsCollections: isFirst, formerModel: isFirst ? formerModel : undefined };
    return openBackfill({ ...context, embedder, ...adopting });
  });
  return {
    wake() {
      for (const backfill of all) backfill.wake();
    },
    isReady: () => all.every((backfill) => backfill.isReady()),
    close: () => Promise.all(all.map((backfill) => backfill.close())),
  };
}

async function countBacklog(vectors: VectorRepository, { all }: Embedders): Promise<number> {
  const counts = await Promise.all(all.map(({ model }) => vectors.countBacklog(model)));
  return counts.reduce((sum, count) => sum + count, 0);
}
