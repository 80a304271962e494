import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Admission } from '../../platform/admission/admission.ts';

/** Lets the pieces of downloads pass in turn by project. */
export type DownloadOrder = (projectId: string | null, pieces: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>;

/**
 * Each piece waits for an iteration of the event loop, and few pieces share one. Without this, many downloads at once would
 * hash and send a piece each in one iteration, and every other request would wait for all of them. Pieces are read before
 * they wait, so that a slow disk or object storage delays only its own downloads.
 */
export function createDownloadOrder(admission: Admission): DownloadOrder {
  const queue = admission.queue('downloads');
  return async function* downloadOrder(projectId, pieces) {
    for await (const piece of pieces) {
      await queue.run({ projectId, keyId: null }, async () => void (await nextIteration()), { isAccepted: true });
      yield piece;
    }
  };
}
