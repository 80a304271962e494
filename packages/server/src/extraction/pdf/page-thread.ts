import { Worker } from 'node:worker_threads';
import type { PageJob, ReadPage } from './read-share.ts';

/** A thread that reads pages of a document beside the one that asks for it. */
export interface PageThread {
  /**
   * Takes pages by `job.next` until none is left; resolves with those it has read, which may be none: what it took and
   * did not read is left to the caller. Jobs are done one after the other.
   */
  read(job: PageJob): Promise<readonly ReadPage[]>;
  /** Whether it is still there: it ends by itself rather than take the memory that its caller needs. */
  isThere(): boolean;
  close(): Promise<void>;
}

/** Starts at once, and loads PDFium with the first job. It keeps no process alive unless it has one. */
export function startPageThread(): PageThread {
  // What is printed must not get into the frames of the child that owns the thread.
  const worker = new Worker(new URL('./page-worker.mjs', import.meta.url), { name: 'pages', stdout: true });
  const waiting: Array<(pages: readonly ReadPage[]) => void> = [];
  let isThere = true;

  function answer(pages: readonly ReadPage[]): void {
    waiting.shift()?.(pages);
    if (waiting.length === 0) worker.unref();
  }
  worker.on('message', answer);
  // Its end follows.
  worker.on('error', () => {});
  worker.on('exit', () => {
    isThere = false;
    while (waiting.length > 0) answer([]);
  });
  worker.unref();

  return {
    read: async (job) => {
      if (!isThere) return [];
      const { promise, resolve } = Promise.withResolvers<readonly ReadPage[]>();
      waiting.push(resolve);
      worker.ref();
      worker.postMessage(job);
      return promise;
    },
    isThere: () => isThere,
    close: async () => {
      await worker.terminate();
    },
  };
}
