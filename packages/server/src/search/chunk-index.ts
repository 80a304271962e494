import type { MetadataFilter } from '@quartermaster/contract';

export interface ChunkSearch {
  readonly collectionId: string;
  readonly words: readonly string[];
  readonly limit: number;
  /** Only chunks that meet it. */
  readonly filter?: MetadataFilter | undefined;
}

/** A place in a ranking. */
export interface RankedChunk {
  /** Names a chunk to the repositories, never used twice. */
  readonly seq: number;
  /** 0..1. */
  readonly score: number;
}

/** The searchable side of the chunks: chunks of the visible generation of their record, and those created directly. */
export interface ChunkIndex {
  /** Chunks that contain any of the words, best first. */
  rank(search: ChunkSearch): Promise<RankedChunk[]>;
  /** The subset of the chunks that is visible and meets the condition. */
  findVisible(seqs: readonly number[], filter: MetadataFilter | undefined): Promise<ReadonlySet<number>>;
}
