import { Worker } from 'node:worker_threads';
import { askThread } from '../../../platform/concurrency/ask-thread.ts';
import { moduleUrl } from '../../../platform/server-process/module-path.ts';
import type { BundleFailure } from '../catalogue.ts';
import { wholeFile } from '../schema/error-collector.ts';
import type { ReadAnswer, ReadRequest } from './read-packed-bundle.ts';

/** Reads bundles in a thread, because parsing and checking a large bundle blocks for seconds. */
export interface BundleReader {
  /** Reads one bundle at a time. The result contains the errors of the bundle. @throws Error after `close` */
  read(request: ReadRequest): Promise<ReadAnswer>;
  /** Stops the thread to free its memory. The next bundle starts a new one. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** The heap limit of the thread. A manifest has at most 256 KiB, and a bundle is packed one manifest at a time. */
const maxHeapMb = 512;

export function createBundleReader(): BundleReader {
  let thread: Worker | undefined;
  let isClosed = false;

  async function rest(): Promise<void> {
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  }

  return {
    async read(request) {
      if (isClosed) throw new Error('the reader of bundles is closed');
      thread ??= new Worker(moduleUrl(import.meta, './bundle-reader-thread'), {
        name: 'bundles',
        resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
      });
      try {
        const { packed, failures } = await askThread<ReadAnswer>(thread, request);
        // Structured cloning turns a Buffer into a Uint8Array.
        return { packed: packed === undefined ? undefined : Buffer.from(packed.buffer), failures };
      } catch (error) {
        await rest();
        if (isClosed) throw error;
        return { packed: undefined, failures: [unreadable(request, error)] };
      }
    },
    rest,
    async close() {
      isClosed = true;
      await rest();
    },
  };
}

function unreadable({ name }: ReadRequest, error: unknown): BundleFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    file: `${name}/bundle.yaml`,
    line: null,
    field: wholeFile,
    message: `The bundle cannot be read: ${reason}.`,
  };
}
