import type { MetadataFilter } from '@quartermaster/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/**
 * The words of one chunk as `search/analysis/tokenizer.ts` returns them: lower case, in order, with repeats, separated
 * by spaces.
 */
export interface IndexedChunk {
  readonly seq: number;
  readonly words: string;
}

export interface TextMatch {
  readonly seq: number;
  /** BM25 as a share of the highest score that the query's words can reach: 0..1, comparable between queries. */
  readonly score: number;
}

export interface Statistics {
  /** Number of chunks in the index. */
  readonly chunks: number;
  /** Number of words in all chunks, including repeats. */
  readonly words: number;
}

export interface FullTextOptions {
  readonly words: readonly string[];
  readonly limit: number;
  /** Restricts the result to chunks that match the filter. */
  readonly filter?: MetadataFilter | undefined;
}

/**
 * The full-text index. Each collection has its own statistics, so that no score reveals anything about another
 * collection. Both dialects compute the same BM25 (k1 1.2, b 0.75, idf = ln(1 + (N − n + 0.5)/(n + 0.5))) over the same
 * words.
 */
export interface FullText {
  create(db: Transaction<Tables>, collectionId: string): Promise<void>;
  /**
   * Drops the index in steps, so that no transaction is long. Searches find nothing from the first call on. Each call
   * removes the entries of about `limit` chunks. Call it until it returns true, and keep the chunks until then.
   */
  drop(db: Transaction<Tables>, collectionId: string, limit: number): Promise<boolean>;
  add(db: Transaction<Tables>, collectionId: string, chunks: readonly IndexedChunk[]): Promise<void>;
  remove(db: Transaction<Tables>, collectionId: string, chunkSeqs: readonly number[]): Promise<void>;
  /** Returns the number of chunks in the index, and of the words in them; zeros when there is no index. */
  statistics(db: Kysely<Tables>, collectionId: string): Promise<Statistics>;
  /**
   * Returns at most `limit` visible chunks (the generation of their record), best first. Words that most chunks contain
   * are not matched.
   */
  search(db: Kysely<Tables>, collectionId: string, options: FullTextOptions): Promise<TextMatch[]>;
}
