import {
  type AnswerQuestion,
  createAnswerQuestion,
  describeChunk,
} from '../../stores/collections/chunks/answer-question.ts';
import { createChunks } from '../../stores/collections/chunks/chunks.ts';
import { createCollections } from '../../stores/collections/collections.ts';
import { createEmbeddingFailures } from '../../stores/collections/embedding-failures.ts';
import { createEvaluations } from '../../stores/collections/evaluations/evaluations.ts';
import { createRecordPages } from '../../stores/collections/pages/record-pages.ts';
import {
  createRecordEvents,
  eventDefaults,
  type RecordEvents,
} from '../../stores/collections/records/record-events.ts';
import { createRecordPasswords } from '../../stores/collections/records/record-passwords.ts';
import { createRecordRows } from '../../stores/collections/records/record-rows.ts';
import { createRecordTexts } from '../../stores/collections/records/record-text.ts';
import { createRecords } from '../../stores/collections/records/records.ts';
import type { CollectionRoutesDeps } from '../../stores/collections/routes.ts';
import { createDryRuns } from '../../stores/ingestion/dry-run.ts';
import { createReadQuestions } from '../../stores/ingestion/read-questions.ts';
import { startRechunker } from '../../stores/ingestion/rechunker.ts';
import { openRecordWorker, workerDefaults } from '../../stores/ingestion/record-worker.ts';
import { openSweeper } from '../../stores/ingestion/sweeper.ts';
import { createFindDistinct } from '../../stores/search/query/find-distinct.ts';
import { limitQuestions } from '../../stores/search/query/limit-questions.ts';
import { createRetrieve, type VectorSearchDeps } from '../../stores/search/query/retrieve.ts';
import { createRankingScheduler } from '../../stores/search/query/schedule-rankings.ts';
import type { CollectionContext } from './collection-context.ts';
import { openVectorSearch } from './wire-vectors.ts';

export interface CollectionServices extends Omit<CollectionRoutesDeps, 'guard'> {
  readonly models: Pick<ReturnType<typeof openVectorSearch>, 'current' | 'exchange'>;
  /** Ends the streams, requeues the records in progress and waits until all work has stopped. */
  close(): Promise<void>;
}

/** Opens collections, records and chunks, and starts their background work. */
export function openCollectionServices(deps: CollectionContext): CollectionServices {
  const { repositories, files, clock, newId, logger, countTokens, space, limits, countExceeded } = deps;
  const timing = { ...workerDefaults, ...deps.timing };
  const passwords = createRecordPasswords(deps.encrypter);
  const tools = { files, passwords, clock, newId, space, limits, countExceeded, metrics: deps.metrics };
  const events = createRecordEvents({ ...eventDefaults, records: repositories.records, space, shares: deps.shares });
  const sweeper = openSweeper({ ...repositories, metrics: deps.metrics, clock, newId, logger, ...timing });
  const searching = openVectorSearch(deps, timing);
  const worker = openRecordWorker({
    ...timing,
    adoptModel: async (collectionId) => searching.current()?.adoptModel(collectionId),
    ...tools,
    jobs: repositories.jobs,
    extractor: deps.extractor,
    pages: deps.pages,
    logger,
    concurrency: deps.extractionProcesses,
    alone: deps.alone ?? false,
    onChanged: events.changed,
    onLeftovers: sweeper.wake,
    onEnded({ isRechunked }) {
      searching.current()?.wake();
      if (isRechunked) rechunker.trigger();
    },
  });
  const rechunker = openRechunker(deps, { worker, events });
  const collections = createCollections({
    ...tools,
    collections: repositories.collections,
    onDeleting: sweeper.wake,
    onRechunk: rechunker.trigger,
    embedding: () => searching.current()?.ofCollections ?? null,
  });
  const records = createRecords({
    ...tools,
    collections,
    records: repositories.records,
    embedding: () => searching.current()?.ofRecords ?? null,
    maxWaitMs: timing.maxWaitMs,
    onAdded: worker.wake,
    onChanged(recordId) {
      worker.recheck(recordId);
      worker.wake();
      sweeper.wake();
      events.changed(recordId);
    },
  });
  const chunks = createChunks({
    ...tools,
    collections,
    records,
    chunks: repositories.chunks,
    countTokens,
    answerQuestion: openQuestions(deps, () => searching.current()?.deps ?? null),
    onVectorMissing: (collectionId) => searching.current()?.onVectorMissing(collectionId),
  });
  return {
    collections,
    failures: createEmbeddingFailures({ collections, findVectors: () => searching.current()?.ofFailures ?? null }),
    records,
    chunks,
    ...createRecordViews(deps, { records, chunks }),
    ...openDryRuns(deps, { collections, chunks }),
    events,
    models: searching,
    async close() {
      events.close();
      await Promise.all([rechunker.close(), worker.close(), sweeper.close(), searching.close()]);
    },
  };
}

function openDryRuns(
  { files, repositories, pages, extractor, clock, metrics, ...deps }: CollectionContext,
  { collections, chunks }: Pick<CollectionServices, 'collections' | 'chunks'>,
): Pick<CollectionServices, 'dryRuns' | 'evaluations'> {
  const queue = deps.admission.queue('dry_runs', { permits: deps.extractionProcesses });
  const reading = { files, pages, extractor, queue };
  const { evaluations } = repositories;
  const readQuestions = createReadQuestions(reading);
  return {
    dryRuns: createDryRuns({ collections, jobs: repositories.jobs, ...reading }),
    evaluations: createEvaluations({
      collections,
      evaluations,
      readQuestions,
      answerQuestion: chunks.query,
      clock,
      onEnded: metrics?.evaluated,
    }),
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

function openQuestions(
  { repositories: { chunks, collections }, questions, reranking, admission, logger }: CollectionContext,
  findVectors: () => VectorSearchDeps | null,
): AnswerQuestion {
  const scheduleRanking = createRankingScheduler(admission);
  const create = (vectors: VectorSearchDeps | null) => ({
    vectors,
    ask: createRetrieve(chunks, vectors, scheduleRanking),
  });
  let current = create(findVectors());
  const retrieve: typeof current.ask = (question) => {
    const vectors = findVectors();
    if (vectors !== current.vectors) current = create(vectors);
    return current.ask(question);
  };
  const find = createFindDistinct({ chunks, retrieve, describe: describeChunk });
  const findDistinct = questions === undefined ? find : limitQuestions(find, { ...questions, logger });
  const { findRetrieval: findDefaults } = collections;
  return createAnswerQuestion({ chunks, findDistinct, reranking, findDefaults });
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
