import type { DiskSpace } from '../kernel/disk/disk-space.ts';
import { type Embedder, EmbedderUnavailable } from '../search/embedding/embedder.ts';
import type { MissingOf, MissingVector, NewVector, VectorRepository } from '../search/vector-repository.ts';

export type EmbeddingEnd =
  | { readonly kind: 'done' }
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
}

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
export async function embedMissing(
  { embedder, vectors, space }: EmbedDeps,
  { of, signal, onRound }: EmbeddingWork,
): Promise<EmbeddingEnd> {
  const limit = embedder.batchSize * embedder.lanes;
  for (let after: MissingVector | null = null; ; ) {
    signal.throwIfAborted();
    const chunks: MissingVector[] = await vectors.missing(of, { after, limit });
    const last = chunks.at(-1);
    if (last === undefined) return { kind: 'done' };
    const embedded = await tryToEmbed(embedder, chunks, signal);
    if ('message' in embedded) return { kind: 'unavailable', ...embedded };
    await space?.untilFreeSpace(signal);
    const saving = await vectors.save(of.collectionId, embedder.model, embedded.vectors);
    if (saving.kind === 'other_model') return { kind: 'other_model' };
    if (saving.kind === 'other_dimensions') {
      const { given, stored } = saving;
      const message = `the embedder gives ${given} dimensions, the vectors of the collection have ${stored}; re-embed it`;
      return { kind: 'unavailable', message, retryAfterMs: null };
    }
    after = last;
    if (!(await onRound(chunks.length))) return { kind: 'late' };
  }
}

async function tryToEmbed(
  embedder: Embedder,
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
        return batch.map(({ seq, updatedAt }, place) => ({ seq, updatedAt, vector: vectors[place] ?? null }));
      }),
    );
    return { vectors: embedded.flat() };
  } catch (error) {
    if (error instanceof EmbedderUnavailable) return { message: error.message, retryAfterMs: error.retryAfterMs };
    throw error;
  }
}
