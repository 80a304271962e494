import type { MessagePort } from 'node:worker_threads';

/** The data with which the thread of the index starts. */
export interface IndexStart {
  readonly port: MessagePort;
  /** The maximum bytes of codes. The least recently used collection is evicted first. */
  readonly memory: number;
}

export type IndexRequest =
  | {
      readonly kind: 'add';
      readonly id: number;
      readonly space: string;
      /** The size of one code in bytes. */
      readonly width: number;
      readonly seqs: Float64Array;
      /** The codes of all seqs, concatenated. */
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
  /** `dropped` lists the evicted spaces. It includes the added space when that alone is too large. */
  | { readonly id: number; readonly dropped: readonly string[] }
  /** The seqs, best first; null when the space is not in memory. */
  | { readonly id: number; readonly seqs: Float64Array | null };
