import type {
  Chunking,
  CollectionListQuery,
  CollectionType,
  RetrievalDefaults,
  VectorRole,
} from '@quartermaster/contract';
import type { Page } from '../../platform/page.ts';
import type { EmbeddingFailure } from '../search/vector-repository.ts';

/** The maximum and default capacity of a collection, in chunks. */
export const maxCapacity = 100_000_000;

/** A stored collection. Times are in milliseconds. */
export interface StoredCollection {
  readonly id: string;
  readonly projectId: string;
  readonly type: CollectionType;
  readonly name: string;
  readonly description: string;
  /** The maximum number of chunks. */
  readonly capacity: number;
  readonly embeddingModelId: string;
  /** Whether no chunks are embedded at present. */
  readonly embeddingPaused: boolean;
  readonly retrieval: RetrievalDefaults;
  readonly chunking: Chunking;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface CountedCollection extends StoredCollection {
  readonly numRecords: number;
  /** The number of visible chunks: those of records and those created directly. */
  readonly numChunks: number;
  /** The number of records whose chunks may follow earlier settings. */
  readonly numPendingRecords: number;
  /** The number of records that kept their chunks at the last change of the settings. */
  readonly numKeptRecords: number;
  /** The vectors in use. Null when it has no model. */
  readonly vectors: VectorsOfCollection | null;
  /** Vectors that are being built or kept. */
  readonly otherVectors: VectorsOfCollection | null;
}

/** A set of vectors of a collection. The counts include those of replaced chunks until these are removed. */
export interface VectorsOfCollection {
  readonly role: VectorRole;
  readonly model: string;
  /** 0 until the first vector is stored. */
  readonly dimensions: number;
  readonly needsBackfill: boolean;
  readonly numEmbedded: number;
  /** Chunks without a vector because the model refuses their text. */
  readonly numRefused: number;
  /** Tokens of all texts sent so far, as the provider counted them. */
  readonly numTokens: number;
  /** The last failed attempt; null when none has failed since the last success. */
  readonly lastError: EmbeddingFailure | null;
}

export interface CollectionChange {
  readonly name?: string;
  readonly description?: string;
  readonly embeddingPaused?: boolean;
  readonly retrieval?: RetrievalDefaults;
  /** Settings other than the stored ones. The chunks of the records are then replaced. */
  readonly chunking?: Chunking;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly updatedAt: number;
}

/** Stores collections. Only `findDeleting` and `sweep` see a collection that is being deleted. */
export interface CollectionRepository {
  /** @returns false and changes nothing when the project has `most` collections, including those being deleted */
  add(collection: StoredCollection, most: number): Promise<boolean>;
  find(projectId: string, collectionId: string): Promise<CountedCollection | undefined>;
  /** Reads one row and counts nothing. */
  findUncounted(projectId: string, collectionId: string): Promise<StoredCollection | undefined>;
  /** Returns the defaults of questions; none for a missing collection. The caller checks the project. */
  findRetrieval(collectionId: string): Promise<RetrievalDefaults>;
  /** Returns the mean number of tokens of the first 500 and the last 500 chunks; 0 without chunks. */
  meanTokens(collectionId: string): Promise<number>;
  /** @param only ids of the collections to list; null or absent for all */
  list(
    projectId: string,
    query: CollectionListQuery,
    only?: ReadonlySet<string> | null,
  ): Promise<Page<CountedCollection>>;
  /** @returns false when there is no such collection. */
  change(projectId: string, collectionId: string, change: CollectionChange): Promise<boolean>;
  /** Hides the collection immediately; `sweep` removes its contents later. @returns false when it does not exist. */
  markDeleting(projectId: string, collectionId: string): Promise<boolean>;
  /** Returns a collection that waits to be swept, except the given ones. */
  findDeleting(except?: readonly string[]): Promise<string | undefined>;
  /**
   * Removes everything that a deleted collection holds, and finally the collection. Each transaction changes at most
   * `limit` rows. An interrupted sweep can be repeated, and two sweeps may run at the same time.
   */
  sweep(collectionId: string, limit: number, signal: AbortSignal): Promise<void>;
}
