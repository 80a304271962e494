import type { MetadataCondition } from '@quartermaster/contract';

/** Compares dates in ISO 8601. An entry of another form never matches. The API has no such condition; Dify has. */
export interface DateCondition {
  readonly type: 'after' | 'before';
  readonly key: string;
  readonly value: string;
}

/** A metadata filter of the API, or one with conditions on dates. */
export type ChunkFilter =
  | MetadataCondition
  | DateCondition
  | { readonly type: 'and' | 'or'; readonly filters: readonly ChunkFilter[] };

export interface ChunkSearch {
  readonly collectionId: string;
  readonly words: readonly string[];
  readonly limit: number;
  /** Restricts the result to chunks that satisfy the filter. */
  readonly filter?: ChunkFilter | undefined;
  /** Ends the search early when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** A chunk with its score in a ranking. */
export interface RankedChunk {
  /** Identifies a chunk to the repositories. A number is never reused. */
  readonly seq: number;
  /** From 0 to 1. */
  readonly score: number;
}

/** Searches chunks: those of the visible generation of their record, and those created directly. */
export interface ChunkIndex {
  /** Returns chunks that contain any of the terms, best first. */
  rank(search: ChunkSearch): Promise<RankedChunk[]>;
  /** Returns the subset of the chunks that is visible and satisfies the filter. */
  findVisible(seqs: readonly number[], filter: ChunkFilter | undefined): Promise<ReadonlySet<number>>;
}
