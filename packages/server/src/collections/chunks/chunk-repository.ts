import type { ListQuery, Locator } from '@quartermaster/contract';
import type { Page } from '../../kernel/page.ts';
import type { ChunkIndex } from '../../search/chunk-index.ts';

/** A chunk with its words, to be stored. Times in milliseconds. */
export interface NewChunk {
  readonly id: string;
  /** Place within the record, from 0. */
  readonly ordinal: number;
  readonly content: string;
  readonly question: string | null;
  readonly answer: string | null;
  readonly numTokens: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly locator: Locator | null;
  readonly createdAt: number;
  /** For the full-text index, as `search/analysis/tokenizer.ts` cuts them, with a blank between. */
  readonly words: string;
  /** Of a pair, as `extraction/qa/row-key.ts` makes it. */
  readonly rowKey?: string;
}

export interface StoredChunk extends Omit<NewChunk, 'words' | 'ordinal' | 'rowKey'> {
  /** null: made directly, without a record. */
  readonly recordId: string | null;
  readonly collectionId: string;
  readonly updatedAt: number;
}

/** Which chunk: all three must fit. */
export interface ChunkKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly chunkId: string;
}

export interface ChunkChange {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly text?: { readonly content: string; readonly numTokens: number; readonly words: string };
  readonly updatedAt: number;
}

/** Chunks as their callers see them: those of the visible generation of their record, and those made directly. */
export interface ChunkRepository extends ChunkIndex {
  /** Adds a chunk without a record. */
  add(projectId: string, collectionId: string, chunk: NewChunk): Promise<'added' | 'gone' | 'full'>;
  find(key: ChunkKey): Promise<StoredChunk | undefined>;
  /** Of a collection, or of one of its records. @returns undefined when the cursor is none of them. */
  list(of: ChunkListKey, query: ListQuery): Promise<Page<StoredChunk> | undefined>;
  /** @returns false when there is no such chunk. */
  change(key: ChunkKey, change: ChunkChange): Promise<boolean>;
  /** @returns false when there is no such chunk. */
  remove(key: ChunkKey): Promise<boolean>;
  /** By seq; those that are gone are left out. */
  fetch(collectionId: string, seqs: readonly number[]): Promise<ReadonlyMap<number, StoredChunk>>;
}

export interface ChunkListKey {
  readonly projectId: string;
  readonly collectionId: string;
  readonly recordId?: string;
}
