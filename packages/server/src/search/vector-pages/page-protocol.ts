import type { MessagePort } from 'node:worker_threads';
import type { NearVectors } from '../embedding/vector-index.ts';
import type { PageBytes } from './page-format.ts';

/** The data with which the thread starts. */
export interface PageThreadStart {
  readonly port: MessagePort;
  /** The maximum bytes of pages in memory. */
  readonly memory: number;
}

/** A stored page. Its size follows from the number of its vectors. */
export interface ListedPage {
  readonly id: number;
  readonly count: number;
}

/** Vectors that may not be in pages yet. */
export interface TailVectors {
  readonly seqs: Float64Array;
  /** The vectors of all seqs, concatenated. */
  readonly vectors: Float32Array;
}

export interface EncodeRequest extends TailVectors {
  readonly dimensions: number;
  /** The part `scan` of an earlier page, whose centre may be used again. */
  readonly earlier: Uint8Array | null;
}

export type PageRequest =
  /** Sets the pages of a space, and forgets its tail. */
  | {
      readonly kind: 'open';
      readonly space: string;
      readonly dimensions: number;
      readonly pages: readonly ListedPage[];
    }
  | ({ readonly kind: 'extend'; readonly space: string } & TailVectors)
  | { readonly kind: 'begin'; readonly space: string; readonly query: Float32Array; readonly count: number }
  /** Passes a page that `begin` has asked for. Without `refine`, the page is forgotten after the question. */
  | {
      readonly kind: 'scan';
      readonly question: number;
      readonly page: ListedPage;
      readonly scan: Uint8Array;
      readonly refine: Uint8Array | null;
    }
  | { readonly kind: 'finish' | 'cancel'; readonly question: number }
  | { readonly kind: 'forget'; readonly space: string }
  | ({ readonly kind: 'encode' } & EncodeRequest)
  | { readonly kind: 'close' };

export interface MissingPage extends ListedPage {
  /** Whether the page will stay in memory, so that both parts are needed. */
  readonly isKept: boolean;
}

export type PageAnswer =
  | { readonly kind: 'done' }
  /** The space is not open, or no longer. */
  | { readonly kind: 'not_open' }
  | { readonly kind: 'near'; readonly near: NearVectors }
  | { readonly kind: 'missing'; readonly question: number; readonly pages: readonly MissingPage[] }
  | { readonly kind: 'encoded'; readonly page: PageBytes }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Numbered<Message> {
  readonly id: number;
  readonly message: Message;
}
