import type { Clock } from '../kernel/clock.ts';
import { retryDelayMs } from '../kernel/concurrency/retry-delay.ts';
import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import type { Logger } from '../kernel/log/logger.ts';
import { type Embedder, EmbedderUnavailable, type TextFailure } from '../search/embedding/embedder.ts';
import type {
  MissingOf,
  MissingVector,
  NewVector,
  StoredFailure,
  VectorRepository,
} from '../search/vector-repository.ts';

export type EmbeddingEnd =
  /** `failed` is the number of texts that wait for another attempt. */
  | { readonly kind: 'done'; readonly failed: number }
  /** The embedding exceeded its time limit. */
  | { readonly kind: 'late' }
  /** The embedder is unavailable. The message is for people. `retryAfterMs` is the delay it requests, or null. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs: number | null }
  /** The collection's vectors belong to another model. */
  | { readonly kind: 'other_model' };

export interface EmbedDeps {
  readonly embedder: Embedder;
  readonly vectors: VectorRepository;
  /** Embedding pauses while the disk is nearly full. Default: the disk is never full. */
  readonly space?: DiskSpace | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The delays after which a text is sent again that the embedder failed to process, in milliseconds. */
const textRetries = { firstMs: 60_000, longestMs: 6 * 3_600_000 };

export interface EmbeddingWork {
  readonly of: MissingOf;
  readonly signal: AbortSignal;
  /** Called after each round with the number of chunks it embedded. Returning false ends the work. */
  readonly onRound: (chunks: number) => Promise<boolean> | boolean;
}

/**
 * Embeds the chunks that have no vector, in batches, until none is left. Each batch is stored when it is finished, so
 * an interrupted call loses nothing and the next call continues from there.
 */
export async function embedMissing(deps: EmbedDeps, { of, signal, onRound }: EmbeddingWork): Promise<EmbeddingEnd> {
  const { embedder, vectors, space, clock } = deps;
  const limit = embedder.batchSize * embedder.lanes;
  let failed = 0;
  for (let after: MissingVector | null = null; ; ) {
    signal.throwIfAborted();
    const chunks: MissingVector[] = await vectors.missing(of, { after, limit, now: clock.now() });
    const last = chunks.at(-1);
    if (last === undefined) return { kind: 'done', failed };
    const embedded = await tryToEmbed(deps, chunks, signal);
    if ('message' in embedded) return { kind: 'unavailable', ...embedded };
    await space?.untilFreeSpace(signal);
    const saving = await vectors.save(of.collectionId, embedder.model, embedded.vectors);
    if (saving.kind === 'other_model') return { kind: 'other_model' };
    if (saving.kind === 'other_dimensions') {
      const { given, stored } = saving;
      const message = `the embedder gives ${given} dimensions, the vectors of the collection have ${stored}; re-embed it`;
      return { kind: 'unavailable', message, retryAfterMs: null };
    }
    failed += embedded.vectors.filter(({ embedded: result }) => isRetried(result)).length;
    after = last;
    if (!(await onRound(chunks.length))) return { kind: 'late' };
  }
}

async function tryToEmbed(
  { embedder, clock, logger }: EmbedDeps,
  chunks: readonly MissingVector[],
  signal: AbortSignal,
): Promise<{ vectors: NewVector[] } | { message: string; retryAfterMs: number | null }> {
  const batches: MissingVector[][] = [];
  for (let from = 0; from < chunks.length; from += embedder.batchSize) {
    batches.push(chunks.slice(from, from + embedder.batchSize));
  }
  try {
    const embedded = await Promise.all(
      batches.map(async (batch) => {
        const vectors = await embedder.embed(
          batch.map(({ text }) => text),
          signal,
        );
        return batch.map((chunk, place) => ({ chunk, embedded: vectors[place] as Float32Array | TextFailure }));
      }),
    );
    return {
      vectors: embedded.flat().map(({ chunk, embedded: result }) => {
        const { seq, updatedAt } = chunk;
        if (result instanceof Float32Array) return { seq, updatedAt, embedded: result };
        const failure = scheduleRetry(chunk, result, clock.now());
        logger.warn({ chunk_id: chunk.id, reason: failure.reason, retry_at: failure.retryAt }, 'chunk not embedded');
        return { seq, updatedAt, embedded: failure };
      }),
    };
  } catch (error) {
    if (error instanceof EmbedderUnavailable) return { message: error.message, retryAfterMs: error.retryAfterMs };
    throw error;
  }
}

function isRetried(embedded: NewVector['embedded']): boolean {
  return !(embedded instanceof Float32Array) && embedded.retryAt !== null;
}

function scheduleRetry(chunk: MissingVector, { reason, isRefused }: TextFailure, now: number): StoredFailure {
  const failures = chunk.failures + 1;
  return { reason, failures, retryAt: isRefused ? null : now + retryDelayMs(textRetries, failures) };
}
