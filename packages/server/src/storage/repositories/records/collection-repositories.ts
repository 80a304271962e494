import type { ChunkRepository } from '../../../stores/collections/chunks/chunk-repository.ts';
import type { CollectionRepository } from '../../../stores/collections/collection-repository.ts';
import type { RecordRepository } from '../../../stores/collections/records/record-repository.ts';
import type { RecordRowRepository } from '../../../stores/collections/records/record-row-repository.ts';
import type { RecordTextRepository } from '../../../stores/collections/records/record-text-repository.ts';
import type { RechunkRepository } from '../../../stores/ingestion/rechunk-repository.ts';
import type { RecordJobRepository } from '../../../stores/ingestion/record-job-repository.ts';
import type { SimilarityScaleRepository } from '../../../stores/search/similarity-scale-repository.ts';
import type { VectorRepository } from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { createChunkRepository } from './chunk-repository.ts';
import { createCollectionRepository } from './collection-repository.ts';
import { createRechunkRepository } from './rechunking.ts';
import { createRecordJobRepository } from './record-job-repository.ts';
import { createRecordRepository } from './record-repository.ts';
import { createRecordRowRepository } from './record-rows.ts';
import { createRecordTextRepository } from './record-texts.ts';
import { createSimilarityScaleRepository } from './similarity-scale-repository.ts';
import { createVectorRepository } from './vector-repository.ts';

/** The repositories of collections and their content. */
export interface CollectionRepositories {
  readonly collections: CollectionRepository;
  readonly records: RecordRepository;
  readonly jobs: RecordJobRepository;
  readonly rechunking: RechunkRepository;
  readonly chunks: ChunkRepository;
  readonly rows: RecordRowRepository;
  readonly texts: RecordTextRepository;
  readonly vectors: VectorRepository;
  readonly scales: SimilarityScaleRepository;
}

/**
 * Creates all of them over one database.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createCollectionRepositories(database: Database, quota: number | null = null): CollectionRepositories {
  return {
    collections: createCollectionRepository(database, quota),
    records: createRecordRepository(database, quota),
    jobs: createRecordJobRepository(database, quota),
    rechunking: createRechunkRepository(database),
    chunks: createChunkRepository(database, quota),
    rows: createRecordRowRepository(database),
    texts: createRecordTextRepository(database),
    vectors: createVectorRepository(database),
    scales: createSimilarityScaleRepository(database),
  };
}
