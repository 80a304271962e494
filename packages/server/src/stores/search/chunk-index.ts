import type { IdComparison, MetadataCondition } from '@quartermaster/contract';

/** Compares dates in ISO 8601. An entry of another form never matches. The API has no such condition; Dify has. */
export interface DateCondition {
  readonly type: 'after' | 'before';
  readonly key: string;
  readonly value: string;
}

/** A filter of the API, or one with conditions on dates. */
export type ChunkFilter =
  | MetadataCondition
  | IdComparison
  | DateCondition
  | { readonly type: 'and' | 'or'; readonly filters: readonly ChunkFilter[] };

export interface ChunkSearch {
  readonly collectionId: string;
  /** The project that must own the collection. Without it, the collection is not checked. */
  readonly projectId?: string | undefined;
  readonly words: readonly string[];
  /** The folded words of the question. An index with stems looks up their stems instead of the words. */
  readonly folded?: readonly string[] | undefined;
  /** The term of pairs with this question. Such a pair comes before all other chunks. */
  readonly exact?: string | null | undefined;
  readonly limit: number;
  /** Whether to return the chunks themselves. */
  readonly withChunks?: boolean | undefined;
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

export interface FoundChunk<Stored> extends RankedChunk {
  /** Absent when it was not requested, or when it has to be fetched by its number. */
  readonly chunk?: Stored;
}

/** What the choice among ranked chunks needs. */
export interface DescribedChunk {
  readonly id: string;
  readonly collectionId: string;
  /** Null for a chunk that was created directly, without a record. */
  readonly recordId: string | null;
  readonly numTokens: number;
  /** Bytes of the chunk in an answer; those of JSON count several times. */
  readonly weight: number;
  /** Equal for the chunks of one call whose texts are equal. */
  readonly text: string | number;
}

/** The project of a search has no such collection. */
export class CollectionMissing extends Error {
  override readonly name = 'CollectionMissing';
  /** Undefined when the search has one collection. */
  readonly collectionId: string | undefined;
  constructor(collectionId?: string) {
    super('the project has no such collection');
    this.collectionId = collectionId;
  }
}

/** Searches chunks: those of the visible generation of their record, and those created directly. */
export interface ChunkIndex<Stored> {
  /**
   * Returns chunks that contain any of the terms, best first.
   * @throws CollectionMissing when the search names a project that has no such collection
   */
  rank(search: ChunkSearch): Promise<ReadonlyArray<FoundChunk<Stored>>>;
  /** Describes chunks without reading their texts into the process. Deleted chunks are omitted. */
  describe(seqs: readonly number[]): Promise<ReadonlyMap<number, DescribedChunk>>;
}
