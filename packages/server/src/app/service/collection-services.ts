import type { ListQuery } from '@quartermaster/contract';
import { emptyPage } from '../../platform/page.ts';
import {
  type AnswerQuestion,
  createAnswerQuestion,
  describeChunk,
} from '../../stores/collections/chunks/answer-question.ts';
import { type ChunkItems, createChunkItems } from '../../stores/collections/chunks/chunk-items.ts';
import { type Chunks, createChunks } from '../../stores/collections/chunks/chunks.ts';
import { type Collections, createCollections } from '../../stores/collections/collections.ts';
import { createEmbeddingFailures, type EmbeddingFailures } from '../../stores/collections/embedding-failures.ts';
import { createRecordPages, type RecordPages } from '../../stores/collections/pages/record-pages.ts';
import type { DryRuns } from '../../stores/collections/records/dry-runs.ts';
import {
  createRecordEvents,
  eventDefaults,
  type RecordEvents,
} from '../../stores/collections/records/record-events.ts';
import { createRecordPasswords } from '../../stores/collections/records/record-passwords.ts';
import { createRecordRows, type RecordRows } from '../../stores/collections/records/record-rows.ts';
import { createRecordTexts, type RecordTexts } from '../../stores/collections/records/record-text.ts';
import { createRecords, type Records } from '../../stores/collections/records/records.ts';
import { openBackfill } from '../../stores/ingestion/backfill.ts';
import { createDryRuns } from '../../stores/ingestion/dry-run.ts';
import { startRechunker } from '../../stores/ingestion/rechunker.ts';
import { openRecordWorker, workerDefaults } from '../../stores/ingestion/record-worker.ts';
import { openSweeper } from '../../stores/ingestion/sweeper.ts';
import type { Embedder } from '../../stores/search/embedding/embedder.ts';
import { createEmbedders, type Embedders, toModelId } from '../../stores/search/embedding/embedders.ts';
import { type SharedEmbedder, shareEmbedder } from '../../stores/search/embedding/share-embedder.ts';
import { tryModelSoon } from '../../stores/search/embedding/try-model.ts';
import { createFindDistinct } from '../../stores/search/query/find-distinct.ts';
import { limitQuestions } from '../../stores/search/query/limit-questions.ts';
import { createRetrieve, type VectorSearchDeps } from '../../stores/search/query/retrieve.ts';
import { createRankingScheduler } from '../../stores/search/query/schedule-rankings.ts';
import type { VectorRepository } from '../../stores/search/vector-repository.ts';
import type { CollectionContext } from './collection-context.ts';

export interface CollectionServices {
  readonly collections: Collections;
  readonly failures: EmbeddingFailures;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly rows: RecordRows;
  readonly texts: RecordTexts;
  readonly pages: RecordPages;
  readonly dryRuns: DryRuns;
  readonly events: RecordEvents;
  /** Ends the streams, requeues the records in progress and waits until all work has stopped. */
  close(): Promise<void>;
}

/** Opens collections, records and chunks, and starts their background work. */
export function openCollectionServices(deps: CollectionContext): CollectionServices {
  const { repositories, files, clock, newId, logger, countTokens, space, limits, countExceeded } = deps;
  const { admission } = deps;
  const timing = { ...workerDefaults, ...deps.timing };
  const passwords = createRecordPasswords(deps.encrypter);
  const tools = { files, passwords, clock, newId, space, limits, countExceeded, metrics: deps.metrics };
  const events = createRecordEvents({
    ...{ ...eventDefaults, records: repositories.records, space: deps.space },
    shares: deps.shares,
  });
  const sweeper = openSweeper({ ...repositories, metrics: deps.metrics, clock, newId, logger, ...timing });
  const searching = openVectorSearch(deps, timing);
  const worker = openRecordWorker({
    ...timing,
    adoptModel: searching?.adoptModel,
    ...tools,
    jobs: repositories.jobs,
    extractor: deps.extractor,
    pages: deps.pages,
    logger,
    concurrency: deps.extractionProcesses,
    alone: deps.alone ?? false,
    onChanged: events.changed,
    onEnded() {
      sweeper.wake();
      searching?.wake();
      rechunker.trigger();
    },
  });
  const rechunker = openRechunker(deps, { worker, events });
  const collections = createCollections({
    ...tools,
    collections: repositories.collections,
    ...{ onDeleting: sweeper.wake, onRechunk: rechunker.trigger },
    embedding: searching?.ofCollections ?? null,
  });
  const records = createRecords({
    ...{ ...tools, collections, records: repositories.records },
    embedding: searching?.ofRecords ?? null,
    maxWaitMs: timing.maxWaitMs,
    onChanged(recordId) {
      worker.recheck(recordId);
      worker.wake();
      sweeper.wake();
      events.changed(recordId);
    },
  });
  const items = createChunkItems(records);
  const chunks = createChunks({
    ...{ collections, records, items, chunks: repositories.chunks, countTokens, clock, newId },
    answerQuestion: openQuestions(deps, { items, vectors: searching?.deps ?? null }),
    onVectorMissing: (collectionId) => searching?.onVectorMissing(collectionId),
  });
  const dryRuns = createDryRuns({
    ...{ collections, files, jobs: repositories.jobs },
    ...{ pages: deps.pages, extractor: deps.extractor },
    queue: admission.queue('dry_runs', { permits: deps.extractionProcesses }),
  });
  return {
    collections,
    failures: createEmbeddingFailures({ collections, vectors: searching?.ofFailures ?? null }),
    records,
    chunks,
    ...createRecordViews(deps, { records, chunks }),
    dryRuns,
    events,
    async close() {
      events.close();
      await Promise.all([rechunker.close(), worker.close(), sweeper.close(), searching?.close()]);
    },
  };
}

function openRechunker(
  { repositories: { rechunking }, clock, logger, space, timing }: CollectionContext,
  { worker, events }: { readonly worker: { wake(): void }; readonly events: RecordEvents },
) {
  const onQueued = (recordId: string) => {
    worker.wake();
    events.changed(recordId);
  };
  return startRechunker({ rechunking, clock, logger, space, ...workerDefaults, ...timing, onQueued });
}

interface QuestionParts {
  readonly items: ChunkItems;
  readonly vectors: VectorSearchDeps | null;
}

function openQuestions(
  { repositories: { chunks, collections }, questions, reranking, admission, logger }: CollectionContext,
  { items, vectors }: QuestionParts,
): AnswerQuestion {
  const retrieve = createRetrieve(chunks, vectors, createRankingScheduler(admission));
  const find = createFindDistinct({ chunks, retrieve, describe: describeChunk });
  const findDistinct = questions === undefined ? find : limitQuestions(find, { ...questions, logger });
  const { findRetrieval: findDefaults } = collections;
  return createAnswerQuestion({ chunks, items, findDistinct, reranking, findDefaults });
}

/** What can be read of a record beside its chunks. */
function createRecordViews(
  { repositories, files, pageReader, admission }: CollectionContext,
  { records, chunks }: Pick<CollectionServices, 'records' | 'chunks'>,
): Pick<CollectionServices, 'rows' | 'texts' | 'pages'> {
  return {
    rows: createRecordRows({ records, rows: repositories.rows }),
    texts: createRecordTexts({ records, texts: repositories.texts, queue: admission.queue('record_texts') }),
    pages: createRecordPages({ records, chunks, files, pageReader }),
  };
}

/** The longest pause of an embedder that fails, in milliseconds. */
const longestPauseMs = 5 * 60_000;

/** By then, the collection whose texts have failed has the reason of its own failure. */
const ownReasonMs = 2_000;

interface Timing {
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly backoffMs: number;
}

/** Opens the vector index, and a backfill for each model, which shares its embedder with the questions. */
function openVectorSearch(deps: CollectionContext, timing: Timing) {
  const { embedding, space, clock, newId, logger, repositories, admission } = deps;
  if (embedding === undefined) return null;
  const { vectors, scales } = repositories;
  const share = (embedder: Embedder) =>
    shareEmbedder(embedder, {
      pauses: { firstMs: timing.backoffMs, longestMs: longestPauseMs },
      onRecovered: () => backfills.wake(),
      admission,
    });
  const embedders = createEmbedders(share(embedding.embedder), embedding.furtherEmbedders.map(share));
  const index = embedding.openIndex(vectors.readAfter);
  const backfills = openBackfills(embedders, {
    ...timing,
    alone: deps.alone ?? false,
    vectors,
    space,
    clock,
    newId,
    logger,
  });
  const tryNow = (embedder: SharedEmbedder) =>
    tryModelSoon({ embedQuestion: embedder.embedNow }, embedding.dimensionsOf?.(embedder.model) ?? null);
  embedding.observe?.({
    isPaused: () => embedders.all.some((each) => each.isPaused()),
    countBacklog: () => countBacklog(vectors, embedders),
  });
  return {
    deps: {
      ...{ embedders, vectors, scales, index, isReady: backfills.isReady, admission, clock, logger },
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
    close: async () => {
      await backfills.close();
      await index.close();
    },
  };
}

type BackfillContext = Omit<Parameters<typeof openBackfill>[0], 'embedder' | 'adoptsCollections'>;

/** Opens a backfill for each model. Collections without a model get the first one. */
function openBackfills(embedders: Embedders<SharedEmbedder>, context: BackfillContext) {
  const all = embedders.all.map((embedder) =>
    openBackfill({ ...context, embedder, adoptsCollections: embedder === embedders.first }),
  );
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
