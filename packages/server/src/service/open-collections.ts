import type { ChunkRepository } from '../collections/chunks/chunk-repository.ts';
import { type Chunks, createChunks } from '../collections/chunks/chunks.ts';
import type { CollectionRepository } from '../collections/collection-repository.ts';
import { type CollectionLimits, type Collections, createCollections } from '../collections/collections.ts';
import { createRecordEvents, eventDefaults, type RecordEvents } from '../collections/records/record-events.ts';
import type { RecordRepository } from '../collections/records/record-repository.ts';
import type { RecordRowRepository } from '../collections/records/record-row-repository.ts';
import { createRecordRows, type RecordRows } from '../collections/records/record-rows.ts';
import { createRecords, type Records } from '../collections/records/records.ts';
import type { Extractor } from '../extraction/extraction.ts';
import type { FileAccess } from '../files/file-access.ts';
import { createDryRuns, type DryRuns } from '../ingestion/dry-run.ts';
import type { PageFetcher } from '../ingestion/page-fetcher.ts';
import type { RecordJobRepository } from '../ingestion/record-job-repository.ts';
import type { RecordMetrics } from '../ingestion/record-metrics.ts';
import { openRecordWorker, type RecordWorkerDeps, workerDefaults } from '../ingestion/record-worker.ts';
import { openSweeper } from '../ingestion/sweeper.ts';
import type { Clock } from '../kernel/clock.ts';
import type { CountExceeded } from '../kernel/concurrency/limit-counter.ts';
import { createStreamShares, type StreamShares } from '../kernel/concurrency/stream-shares.ts';
import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/log/logger.ts';
import type { CountTokens } from '../search/query/measure-text.ts';
import { createRetrieve } from '../search/query/retrieve.ts';
import type { VectorRepository } from '../search/vector-repository.ts';
import { type EmbeddingParts, openVectorSearch } from './vector-search.ts';

export interface CollectionRoomDeps {
  readonly repositories: {
    readonly collections: CollectionRepository;
    readonly records: RecordRepository;
    readonly jobs: RecordJobRepository;
    readonly chunks: ChunkRepository;
    readonly rows: RecordRowRepository;
    readonly vectors: VectorRepository;
  };
  /** Absent: chunks are found by their words alone. */
  readonly embedding?: EmbeddingParts | undefined;
  /** Absent: nobody reads them. */
  readonly metrics?: RecordMetrics | undefined;
  readonly files: FileAccess;
  /** Work waits while the disk is nearly full. Default: always room. */
  readonly space?: DiskSpace | undefined;
  /** Default: places of its own. */
  readonly shares?: StreamShares;
  readonly extractor: Extractor;
  readonly pages: PageFetcher;
  readonly countTokens: CountTokens;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly limits: CollectionLimits;
  /** Absent: nobody counts. */
  readonly countExceeded?: CountExceeded | undefined;
  /** As many records are made at the same time. */
  readonly extractionProcesses: number;
  /** Whether this process alone works on the database: then what a crash left goes on at once. Default: false. */
  readonly alone?: boolean;
  readonly timing?: Partial<
    Pick<RecordWorkerDeps, 'leaseMs' | 'deadlineMs' | 'maxWaitMs' | 'maxAttempts' | 'backoffMs' | 'pollMs'>
  > & {
    readonly patienceMs?: number;
  };
}

export interface CollectionRoom {
  readonly collections: Collections;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly rows: RecordRows;
  readonly dryRuns: DryRuns;
  readonly events: RecordEvents;
  /** Ends the streams, requeues the records in progress and waits until nothing runs. */
  close(): Promise<void>;
}

/** Collections, records and chunks, and the work behind them, which starts at once. */
export function openCollectionRoom(deps: CollectionRoomDeps): CollectionRoom {
  const { repositories, files, clock, newId, logger, countTokens } = deps;
  const timing = { ...workerDefaults, ...deps.timing };
  const { space, limits, countExceeded } = deps;
  const tools = { files, clock, newId, space, limits, countExceeded };
  const events = createRecordEvents({
    ...{ ...eventDefaults, records: repositories.records, space: deps.space },
    shares: deps.shares ?? createStreamShares(),
  });
  const sweeper = openSweeper({ ...repositories, metrics: deps.metrics, clock, newId, logger, ...timing });
  const searching = openVectorSearch(deps, timing);
  const worker = openRecordWorker({
    ...timing,
    ...(searching && { embedding: searching.embedding }),
    metrics: deps.metrics,
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
      searching?.backfill.wake();
    },
  });
  const collections = createCollections({
    ...tools,
    collections: repositories.collections,
    onDeleting: sweeper.wake,
    embedding: searching?.ofCollections ?? null,
  });
  const records = createRecords({
    collections,
    ...tools,
    records: repositories.records,
    maxWaitMs: timing.maxWaitMs,
    onChanged(recordId) {
      worker.recheck(recordId);
      worker.wake();
      sweeper.wake();
      events.changed(recordId);
    },
  });
  const chunks = createChunks({
    ...{ collections, records, chunks: repositories.chunks, countTokens, clock, newId },
    retrieve: createRetrieve(repositories.chunks, searching?.deps ?? null),
    onVectorMissing: (collectionId) => searching?.onVectorMissing(collectionId),
  });
  const rows = createRecordRows({ records, rows: repositories.rows });
  const dryRuns = createDryRuns({
    collections,
    jobs: repositories.jobs,
    files,
    pages: deps.pages,
    extractor: deps.extractor,
    mostAtOnce: deps.extractionProcesses,
  });
  return {
    collections,
    records,
    chunks,
    rows,
    dryRuns,
    events,
    async close() {
      events.close();
      await Promise.all([worker.close(), sweeper.close(), searching?.close()]);
    },
  };
}
