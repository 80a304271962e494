import type { VectorSpace } from '../embedding/vector-index.ts';
import type { PageBytes } from './page-format.ts';
import type { ListedPage } from './page-protocol.ts';

/** A stored vector with the change that stored it. */
export interface VectorRow {
  readonly seq: number;
  readonly change: number;
  /** Null when the text has no vector. */
  readonly vector: Float32Array | null;
}

export interface NewPage extends PageBytes {
  readonly count: number;
}

export interface PageChange {
  readonly added: readonly NewPage[];
  readonly removed: readonly number[];
  readonly pagedChange: number;
}

/**
 * Stores the pages of collections. Pages contain every vector up to `pagedChange` of their space, and maybe vectors that
 * were deleted or replaced since. Each change of the pages raises `pageVersion` in the same transaction.
 */
export interface VectorPageRepository {
  /** Returns the pages of a space, oldest first. */
  list(space: VectorSpace): Promise<readonly ListedPage[]>;
  /** @returns undefined when the page has been replaced */
  read(id: number): Promise<PageBytes | undefined>;
  /** Reads the part `scan` only. */
  readScan(id: number): Promise<Uint8Array | undefined>;
  /** Returns vectors of later changes up to the last one of the space, in the order of changes and seqs. */
  rowsAfter(space: VectorSpace, after: Pick<VectorRow, 'change' | 'seq'>, limit: number): Promise<VectorRow[]>;
  /** Returns the vectors of these chunks that pages must contain. */
  pagedRows(space: VectorSpace, seqs: Float64Array): Promise<VectorRow[]>;
  /** Counts the vectors that pages must contain. */
  countPaged(space: VectorSpace): Promise<number>;
  /** Returns whether at least `count` vectors are not in pages. */
  hasUnpaged(space: VectorSpace, count: number): Promise<boolean>;
  /** Lists the spaces with vectors that are not in pages, or with pages. */
  listSpaces(): Promise<VectorSpace[]>;
  /**
   * Adds pages, deletes others, and sets `pagedChange` in one transaction.
   * @returns false when the pages or the model have changed meanwhile
   */
  replace(space: VectorSpace, by: PageChange): Promise<boolean>;
  /** Deletes at most `limit` pages of earlier models. @returns how many it deleted */
  removeOutdated(limit: number): Promise<number>;
}
