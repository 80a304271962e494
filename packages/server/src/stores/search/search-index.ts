import type { ChunkSearch, FoundChunk } from './chunk-index.ts';

/**
 * The words of one chunk as `analysis/tokenizer.ts` or `analysis/field-terms.ts` return them: lower case, with repeats or
 * with their weighted frequencies, separated by spaces.
 */
export interface IndexedChunk {
  readonly seq: number;
  readonly words: string;
  /** What `filter-terms.ts` lists; without them, each question with a filter considers the chunk. */
  readonly filterTerms?: readonly string[];
}

export interface Statistics {
  /** Number of chunks in the index. */
  readonly chunks: number;
  /** Number of words in all chunks, including repeats. */
  readonly words: number;
}

/**
 * The index that finds chunks by their words. Each collection has its own statistics, so that no score reveals anything
 * about another collection. All implementations compute the same BM25 (k1 1.2, b 0.75, idf = ln(1 + (N − n + 0.5)/(n +
 * 0.5))) over the same words.
 *
 * Changes belong to the transaction that changes the chunks, so that index and chunks always agree.
 */
export interface SearchIndex<Connection, Transaction extends Connection, Row> {
  /**
   * Drops the index in steps, so that no transaction is long. Searches find nothing from the first call on. Call it
   * until it returns true, and keep the chunks until then.
   */
  drop(db: Transaction, collectionId: string): Promise<boolean>;
  add(db: Transaction, collectionId: string, chunks: readonly IndexedChunk[]): Promise<void>;
  /** Removes chunks. Chunks that the index does not contain are ignored. */
  remove(db: Transaction, collectionId: string, chunkSeqs: readonly number[]): Promise<void>;
  /** Returns the number of chunks in the index, and of the words in them; zeros when there are none. */
  statistics(db: Connection, collectionId: string): Promise<Statistics>;
  /**
   * Returns at most `limit` visible chunks (the generation of their record), best first.
   * @throws CollectionMissing when the question names a project that has no such collection
   */
  ask(db: Connection, question: ChunkSearch): Promise<Array<FoundChunk<Row>>>;
  /**
   * Compares the index of a collection with its chunks.
   * @returns one sentence for each error
   */
  check(db: Connection, collectionId: string): Promise<readonly string[]>;
  /**
   * Rebuilds the index from the chunks in steps, so that no transaction is long. The first call begins. The index answers
   * as before until the new one replaces it, which contains all changes made meanwhile. Call it until it returns true. A
   * rebuild that was interrupted is continued.
   */
  rebuild(db: Transaction, collectionId: string): Promise<boolean>;
}
