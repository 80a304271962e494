import type { S3Body } from './s3-client.ts';
import type { S3Objects } from './s3-objects.ts';

/** Sends a blob in parts while it arrives. */
export interface PartsUpload {
  /** Sends the parts that are complete, in the background. A part that fails is sent again with a later one. */
  grown(bytes: number): void;
  /** Sends what is missing. The object appears when all parts have arrived. @throws Problem */
  finish(bytes: number): Promise<void>;
  /** Ends all requests and removes the parts that have arrived. The sweep of unfinished uploads repeats it. */
  abort(): Promise<void>;
}

export interface PartsUploadDeps {
  readonly objects: Pick<S3Objects, 'beginParts' | 'putPart' | 'completeParts' | 'abortParts'>;
  readonly key: string;
  readonly bodyOf: (range: { readonly start: number; readonly bytes: number }) => Promise<S3Body>;
  /** Stores the intent of the blob. */
  readonly intend: () => Promise<void>;
  /** Keeps the intent from being abandoned. */
  readonly renew: () => Promise<void>;
  /** Milliseconds between two renewals. */
  readonly renewEvery?: number;
}

const partBytes = 8 * 2 ** 20;
/** While one part is sent, the next one is hashed. */
const partsInFlight = 2;

export function createPartsUpload(deps: PartsUploadDeps): PartsUpload {
  const { objects, key, bodyOf, intend, renew, renewEvery = 600_000 } = deps;
  const waiting: number[] = [];
  const etags: string[] = [];
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  let [planned, total, renewedAt] = [0, 0, performance.now()];
  let intended: Promise<void> | undefined;
  let begun: Promise<string> | undefined;
  let failure: { readonly error: unknown } | undefined;

  async function begin(): Promise<string> {
    intended ??= intend();
    await intended;
    return await objects.beginParts(key, stop.signal);
  }

  async function sendPart(index: number): Promise<void> {
    begun ??= begin();
    const uploadId = await begun.catch((error) => {
      begun = undefined;
      throw error;
    });
    const start = index * partBytes;
    const body = await bodyOf({ start, bytes: Math.min(partBytes, total - start) });
    etags[index] = await objects.putPart(key, { uploadId, number: index + 1, body, signal: stop.signal });
    await keepIntent();
  }

  async function keepIntent(): Promise<void> {
    if (intended === undefined || performance.now() - renewedAt < renewEvery) return;
    renewedAt = performance.now();
    // If the intent was abandoned, the transaction that adds the row finds it.
    await renew().catch(() => undefined);
  }

  function sendWaiting(): void {
    while (running.size < partsInFlight && failure === undefined && !stop.signal.aborted) {
      const index = waiting.shift();
      if (index === undefined) return;
      const sent = sendPart(index)
        .catch((error) => {
          waiting.unshift(index);
          failure = { error };
        })
        .finally(() => {
          running.delete(sent);
          sendWaiting();
        });
      running.add(sent);
    }
  }

  /** @returns whether there are new parts */
  function plan(count: number): boolean {
    const isNew = planned < count;
    while (planned < count) waiting.push(planned++);
    return isNew;
  }

  async function settle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  return {
    grown(bytes) {
      total = bytes;
      void keepIntent();
      if (!plan(Math.floor(bytes / partBytes))) return;
      failure = undefined;
      sendWaiting();
    },
    async finish(bytes) {
      total = bytes;
      plan(Math.ceil(bytes / partBytes));
      failure = undefined;
      sendWaiting();
      await settle();
      if (failure !== undefined) throw (failure as { error: unknown }).error;
      await objects.completeParts(key, { uploadId: (await begun) ?? '', etags, bytes });
    },
    async abort() {
      stop.abort();
      await settle();
      const uploadId = await begun?.catch(() => undefined);
      if (uploadId !== undefined) await objects.abortParts(key, uploadId).catch(() => undefined);
    },
  };
}
