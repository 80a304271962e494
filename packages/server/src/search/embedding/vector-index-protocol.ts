import type { MessagePort } from 'node:worker_threads';

/** What the index's thread is started with. */
export interface IndexStart {
  readonly port: MessagePort;
  /** Bytes of codes that are kept; the collection asked longest ago goes first. */
  readonly memory: number;
}

export type IndexRequest =
  | {
      readonly kind: 'add';
      readonly id: number;
      readonly space: string;
      /** Bytes of one code. */
      readonly width: number;
      readonly seqs: Float64Array;
      /** Of all seqs, one after another. */
      readonly codes: Uint8Array;
    }
  | {
      readonly kind: 'nearest';
      readonly id: number;
      readonly space: string;
      readonly query: Float32Array;
      readonly count: number;
    }
  | { readonly kind: 'forget'; readonly id: number; readonly space: string }
  | { readonly kind: 'close'; readonly id: number };

export type IndexAnswer =
  /** `dropped`: spaces that had to go to make room, the one added to included when it alone is too large. */
  | { readonly id: number; readonly dropped: readonly string[] }
  /** Best first; null when the space is not in memory. */
  | { readonly id: number; readonly seqs: Float64Array | null };
