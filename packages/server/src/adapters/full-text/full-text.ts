import type { MetadataFilter } from '@quartermaster/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** One chunk's words, as `search/analysis/tokenizer.ts` cut them: lower case, in order, repeats kept, a blank between. */
export interface IndexedChunk {
  readonly seq: number;
  readonly words: string;
}

export interface TextMatch {
  readonly seq: number;
  /** BM25 as a share of the most that the query's words could score: 0..1, comparable between queries. */
  readonly score: number;
}

export interface FullTextOptions {
  readonly words: readonly string[];
  readonly limit: number;
  /** Only chunks that meet it. */
  readonly filter?: MetadataFilter | undefined;
}

/**
 * The full-text index, apart for each collection, so that no score tells about another's. Both dialects
 * compute the same BM25 (k1 1.2, b 0.75, idf = ln(1 + (N − n + 0.5)/(n + 0.5))) over the same words.
 */
export interface FullText {
  create(db: Transaction<Tables>, collectionId: string): Promise<void>;
  /**
   * Nothing is found from the first call on. What about `limit` chunks have in the index goes with each call, so that no
   * transaction is long: call it until it gives true, and keep the chunks until then.
   */
  drop(db: Transaction<Tables>, collectionId: string, limit: number): Promise<boolean>;
  add(db: Transaction<Tables>, collectionId: string, chunks: readonly IndexedChunk[]): Promise<void>;
  remove(db: Transaction<Tables>, collectionId: string, chunkSeqs: readonly number[]): Promise<void>;
  /** Best first, only chunks that are visible (generation of their record), at most `limit`. Words found in most chunks are left out of the match. */
  search(db: Kysely<Tables>, collectionId: string, wish: FullTextOptions): Promise<TextMatch[]>;
}
