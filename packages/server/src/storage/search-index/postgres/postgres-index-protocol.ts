import type { MessagePort } from 'node:worker_threads';
import type { RankedChunk } from '../../../stores/search/chunk-index.ts';
import type { Restriction } from '../../../stores/search/restriction.ts';
import type { IndexedChunk, Statistics } from '../../../stores/search/search-index.ts';
import type { ChunkTexts } from '../../database/chunk-texts.ts';
import type { MergeParts, MergeStep } from '../merge-steps.ts';
import type { MissingPages } from './prefetched-store.ts';

/** A question about the segments of a collection, which the caller has listed. */
export interface ListedQuestion {
  /** Distinguishes the questions of the process. */
  readonly question: number;
  /** The live segments in their order. */
  readonly segments: readonly number[];
  /** True when the segments may belong to an unfinished transaction, so that the caches must not keep them. */
  readonly isPrivate: boolean;
  /** Changes when the connections may have moved to another server. That server may give the ids of lost segments again. */
  readonly epoch: number;
  /** Shared memory in which the caller writes 1 when the question has ended. */
  readonly ended: Int32Array | null;
  /** What an earlier attempt lacked. */
  readonly fetched: FetchedPages | null;
}

/** Headers and pages of segments. The bytes follow one another in one buffer, which costs one transfer. */
export interface FetchedPages {
  readonly entries: readonly FetchedEntry[];
  readonly bytes: Uint8Array;
}
export interface FetchedEntry {
  readonly segment: number;
  /** Null for the header. */
  readonly page: number | null;
  readonly size: number;
}

/** The result, or what the thread lacks to compute it. */
export type Attempt<Result> = { readonly result: Result } | { readonly missing: MissingPages };

export interface PackedSegment {
  readonly header: Uint8Array;
  /** All pages, one after another. */
  readonly pages: Uint8Array;
  readonly sizes: readonly number[];
}

export interface RankQuestion extends ListedQuestion {
  readonly words: readonly string[];
  /** The folded words, normalised; null when the index has the words as they are. */
  readonly folded: readonly string[] | null;
  /** The term of pairs with this question, or null. */
  readonly exact: string | null;
  /** The chunks to rank; null for all. */
  readonly restriction: Restriction | null;
  readonly count: number;
}

/** What the thread does for its process: argument and result of each procedure. */
export interface IndexProcedures {
  rank: { argument: RankQuestion; result: Attempt<RankedChunk[]> };
  count: { argument: ListedQuestion; result: Attempt<Statistics> };
  /** Forgets what was fetched for a question. */
  end: { argument: number; result: null };
  build: { argument: readonly IndexedChunk[]; result: PackedSegment };
  /** Analyses chunks that a rebuild has read. */
  buildRebuilt: { argument: readonly ChunkTexts[]; result: PackedSegment };
  buildRemovals: { argument: readonly number[]; result: Uint8Array };
  startMerge: { argument: MergeParts; result: null };
  continueMerge: { argument: number; result: MergeStep };
  check: { argument: string; result: string[] };
}
export type IndexProcedure = keyof IndexProcedures;

export interface IndexRequest {
  readonly id: number;
  readonly procedure: IndexProcedure;
  readonly argument: unknown;
}

/** The header of a segment and its first pages. */
export interface ReadPart {
  readonly id: number;
  readonly header: Uint8Array;
  readonly pages: readonly Uint8Array[];
}

/** What a merge or a check reads while it runs. The thread waits for the answer. */
export type ReadRequest =
  | { readonly kind: 'parts'; readonly segments: readonly number[] }
  | { readonly kind: 'header'; readonly segment: number }
  /** Answered with the pages from the first on up to a missing one. */
  | { readonly kind: 'pages'; readonly segment: number; readonly first: number; readonly count: number }
  | { readonly kind: 'segments'; readonly collectionId: string }
  | { readonly kind: 'chunks'; readonly collectionId: string; readonly after: string; readonly limit: number };

export type IndexMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string }
  | { readonly id: number; readonly read: ReadRequest };

/** Null when the read has failed. The process then reports that failure. */
export type ReadAnswer = { readonly result: unknown } | null;

export interface IndexStart {
  /** Receives the answers of reads. */
  readonly answers: MessagePort;
  /** Increased after each answer. */
  readonly answerCount: Int32Array;
  /** Bytes that the caches of questions hold at most. */
  readonly cacheBytes?: number;
}
