import { Worker } from 'node:worker_threads';
import { moduleUrl } from '../../../platform/server-process/module-path.ts';
import type { NearVectors } from '../embedding/vector-index.ts';

export type ThreadRequest =
  | ({ readonly kind: 'add'; readonly space: string; readonly dimensions: number } & VectorBatch)
  | { readonly kind: 'nearest'; readonly space: string; readonly query: Float32Array; readonly count: number }
  | { readonly kind: 'drop'; readonly space: string };

/** Vectors of a space. */
export interface VectorBatch {
  readonly seqs: Float64Array;
  /** The vectors of all seqs, concatenated. */
  readonly vectors: Float32Array;
}

/** A thread that answers requests in their order. */
export interface VectorThread {
  /** @returns undefined when the request is not `nearest`, or the thread does not have the space */
  ask(request: ThreadRequest): Promise<NearVectors | undefined>;
  close(): Promise<void>;
}

type Waiter = PromiseWithResolvers<NearVectors | undefined>;

/** @param onEnd called when the thread ends, also after an error */
export function openVectorThread(onEnd: () => void): VectorThread {
  const worker = new Worker(moduleUrl(import.meta, './vector-thread'), { name: 'vectors' });
  const waiting: Waiter[] = [];
  let failure: Error | undefined;
  worker.on('message', (near: NearVectors | undefined) => waiting.shift()?.resolve(near));
  worker.once('error', (cause) => {
    failure = new Error('The thread of the vector index has failed.', { cause });
  });
  worker.once('exit', () => {
    failure ??= new Error('The thread of the vector index has ended.');
    for (const { reject } of waiting.splice(0)) reject(failure);
    onEnd();
  });
  return {
    ask(request) {
      if (failure !== undefined) return Promise.reject(failure);
      const waiter: Waiter = Promise.withResolvers();
      waiting.push(waiter);
      worker.postMessage(request);
      return waiter.promise;
    },
    async close() {
      await worker.terminate();
    },
  };
}
