import type { CollectionType, ListQuery } from '@quartermaster/contract';
import type { Page } from '../kernel/page.ts';

/** Chunks of a collection: the highest capacity and the default one. */
export const maxCapacity = 100_000_000;

/** A collection as it is stored. Times in milliseconds. */
export interface StoredCollection {
  readonly id: string;
  readonly projectId: string;
  readonly type: CollectionType;
  readonly name: string;
  readonly description: string;
  /** Most chunks it may hold. */
  readonly capacity: number;
  readonly embeddingModelId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface CountedCollection extends StoredCollection {
  readonly numRecords: number;
  /** Visible chunks: those of the records and those made directly. */
  readonly numChunks: number;
  /** null: it has no vectors. */
  readonly vectors: { readonly model: string; readonly dimensions: number; readonly needsBackfill: boolean } | null;
  /** Chunks without a vector because the model refuses their text. */
  readonly numRefused: number;
}

export interface CollectionChange {
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly updatedAt: number;
}

/** Collections. One that is being deleted is not there for any call but `findDeleting` and `sweep`. */
export interface CollectionRepository {
  /** @returns false when the project has `most` collections, those that are being deleted included; nothing is changed then. */
  add(collection: StoredCollection, most: number): Promise<boolean>;
  find(projectId: string, collectionId: string): Promise<CountedCollection | undefined>;
  /** @returns undefined when the cursor is no collection of the project. */
  list(projectId: string, query: ListQuery): Promise<Page<CountedCollection> | undefined>;
  /** @returns false when there is no such collection. */
  change(projectId: string, collectionId: string, change: CollectionChange): Promise<boolean>;
  /** From here on the collection is gone for everybody; `sweep` removes what it holds. @returns false when it was not there. */
  markDeleting(projectId: string, collectionId: string): Promise<boolean>;
  /** A collection that waits to be swept, other than these. */
  findDeleting(except?: readonly string[]): Promise<string | undefined>;
  /**
   * Removes everything a collection marked as deleting holds, and at last the collection, in transactions that touch at
   * most `limit` rows. Stopped anywhere it may be started again, and run twice at once.
   */
  sweep(collectionId: string, limit: number, signal: AbortSignal): Promise<void>;
}
