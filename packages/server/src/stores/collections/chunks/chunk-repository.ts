import type { ChunkListQuery, Locator } from '@quartermaster/contract';
import type { Page } from '../../../platform/page.ts';
import type { ExtractedChunk } from '../../extraction/extraction.ts';
import type { ScanBox } from '../../extraction/page-protocol.ts';
import type { ChunkIndex } from '../../search/chunk-index.ts';
import type { NamedRecord } from '../records/record-repository.ts';

/** A chunk with its terms, to be stored. Times are in milliseconds. */
export interface NewChunk extends Omit<ExtractedChunk, 'metadata'> {
  readonly id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

export interface StoredChunk extends Omit<NewChunk, 'words' | 'ordinal' | 'rowKey' | 'boxes'> {
  /** Null for a chunk that was created directly, without a record. */
  readonly recordId: string | null;
  readonly record: NamedRecord | null;
  readonly collectionId: string;
  readonly updatedAt: number;
}

/** Identifies a chunk. All three ids must match. */
export interface ChunkKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly chunkId: string;
}

export interface ChunkChange {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly text?: {
    readonly content: string;
    /** Null unless the chunk is a pair, which it stays. Default: they stay. */
    readonly question?: string | null;
    readonly answer?: string | null;
    readonly numTokens: number;
    /** Default: it stays. */
    readonly locator?: Locator | null;
    /** The folded words of the content with their frequencies, when they are known. */
    readonly folded?: ReadonlyMap<string, number>;
  };
  readonly updatedAt: number;
}

/** Chunks that callers can see: those of the visible generation of their record, and those created directly. */
export interface ChunkRepository extends ChunkIndex<StoredChunk> {
  /** Adds a chunk without a record. */
  add(projectId: string, collectionId: string, chunk: NewChunk): Promise<'added' | 'gone' | 'full'>;
  find(key: ChunkKey): Promise<StoredChunk | undefined>;
  /** Returns where the chunk stands on scanned pages. Empty for other chunks. */
  findBoxes(key: ChunkKey): Promise<readonly ScanBox[]>;
  /** Lists the chunks of a collection or of one record. */
  list(of: ChunkListKey, query: ChunkListQuery): Promise<Page<StoredChunk>>;
  /** @returns false when there is no such chunk. */
  change(key: ChunkKey, change: ChunkChange): Promise<boolean>;
  /** @returns false when there is no such chunk. */
  remove(key: ChunkKey): Promise<boolean>;
  /**
   * Describes the chunks at most `distance` positions away from these ones, in the same generation of the same record, with one query.
   * Chunks without a record have none.
   */
  describeNeighbours(seqs: readonly number[], distance: number): Promise<readonly Neighbour[]>;
  /** Returns chunks by seq. Deleted chunks are omitted. */
  fetch(collectionIds: readonly string[], seqs: readonly number[]): Promise<ReadonlyMap<number, StoredChunk>>;
}

export interface Neighbour {
  /** The chunk whose neighbour it is. */
  readonly of: number;
  readonly seq: number;
  /** Positions after that chunk; negative before it. */
  readonly offset: number;
  readonly numTokens: number;
  /** As `DescribedChunk.weight`. */
  readonly weight: number;
}

export interface ChunkListKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId?: string;
}
