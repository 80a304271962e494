import type { StreamShares } from '../../platform/admission/stream-shares.ts';
import type { CommonDeps } from '../../platform/common-deps.ts';
import type { CountExceeded } from '../../platform/concurrency/limit-counter.ts';
import type { DiskSpace } from '../../platform/disk/disk-space.ts';
import type { CollectionRepositories } from '../../storage/repositories/records/collection-repositories.ts';
import type { CollectionLimits } from '../../stores/collections/collections.ts';
import type { PasswordEncrypter } from '../../stores/collections/records/record-passwords.ts';
import type { PageReader } from '../../stores/extraction/pages/open-page-reader.ts';
import type { ProcessDeps } from '../../stores/ingestion/extract-record.ts';
import type { RecordWorkerDeps } from '../../stores/ingestion/record-worker.ts';
import type { CountTokens } from '../../stores/search/analysis/measure-text.ts';
import type { Embedder } from '../../stores/search/embedding/embedder.ts';
import type { EmbeddingState } from '../../stores/search/embedding/embedder-metrics.ts';
import type { VectorIndex } from '../../stores/search/embedding/vector-index.ts';
import type { QuestionLimits } from '../../stores/search/query/limit-questions.ts';
import type { RerankDeps } from '../../stores/search/reranking/rerank-hits.ts';
import type { ReadVectors } from '../../stores/search/vector-codes/open-vector-index.ts';

export interface EmbeddingParts {
  /** Embeds new collections. */
  readonly embedder: Embedder;
  /** Embed the collections whose vectors are of these models. */
  readonly furtherEmbedders: readonly Embedder[];
  /** The model whose collections are embedded again with the first one. */
  readonly formerModel?: string | undefined;
  readonly openIndex: (readVectors: ReadVectors) => VectorIndex;
  /** Returns the price of a million tokens of a model; null when none is set. Default: no prices. */
  readonly priceOf?: (model: string) => number | null;
  /** The dimensions of the settings of a model; null for those of the model. Default: null. */
  readonly dimensionsOf?: (model: string) => number | null;
  /** Receives the state of the embedding once. Without it, the state has no metrics. */
  readonly observe?: (state: EmbeddingState) => void;
}

export interface CollectionContext
  extends Pick<CommonDeps, 'admission' | 'clock' | 'logger' | 'newId'>,
    Pick<ProcessDeps, 'extractor' | 'files' | 'metrics' | 'pages'> {
  readonly repositories: CollectionRepositories;
  /** Without it, search uses words only. */
  readonly embedding?: EmbeddingParts | undefined;
  /** Without it, questions are not reranked. */
  readonly reranking?: RerankDeps | undefined;
  /** Encrypts the passwords of files. Null without an encryption key. */
  readonly encrypter: PasswordEncrypter | null;
  /** Delays work while the disk is nearly full. Default: no delay. */
  readonly space?: DiskSpace | undefined;
  readonly shares: StreamShares;
  readonly pageReader: PageReader;
  readonly countTokens: CountTokens;
  readonly limits: CollectionLimits;
  /** Counts refused requests. Without it they are not counted. */
  readonly countExceeded?: CountExceeded | undefined;
  /** Default: questions have no deadline. */
  readonly questions?: Pick<QuestionLimits, 'seconds' | 'metrics'>;
  /** The number of records that are processed at the same time. */
  readonly extractionProcesses: number;
  /** Whether no other process uses the database, so that work interrupted by a crash continues immediately. Default: false. */
  readonly alone?: boolean;
  readonly timing?: Partial<
    Pick<RecordWorkerDeps, 'leaseMs' | 'deadlineMs' | 'maxWaitMs' | 'maxAttempts' | 'backoffMs' | 'pollMs'>
  >;
}
