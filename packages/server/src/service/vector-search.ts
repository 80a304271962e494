import { openBackfill } from '../ingestion/backfill.ts';
import { defaultRetryMs } from '../ingestion/embed-record.ts';
import type { CodePage, VectorSpace } from '../search/embedding/vector-index.ts';
import type { VectorRepository } from '../search/vector-repository.ts';
import type { CollectionContext } from './collection-context.ts';

/** Opens the vector index, the embedding stage of records and the backfill. */
export function openVectorSearch(
  deps: CollectionContext,
  timing: { leaseMs: number; pollMs: number; backoffMs: number; maxVectorWaitMs?: number },
) {
  const { embedding, space, clock, newId, logger, repositories } = deps;
  if (embedding === undefined) return null;
  const { embedder } = embedding;
  const { vectors, scales } = repositories;
  const index = embedding.openIndex((space, after) => loadCodes(vectors, space, after));
  const backfill = openBackfill({ ...timing, embedder, vectors, space, clock, newId, logger });
  const maxVectorWaitMs = timing.maxVectorWaitMs ?? defaultRetryMs;
  return {
    deps: {
      ...{ embedder, vectors, scales, index, isReady: backfill.isReady, clock, logger },
      findDefaults: repositories.collections.findRetrieval,
    },
    embedding: { embedder, vectors, space, clock, logger, maxVectorWaitMs },
    backfill,
    /** Called when a chunk was created or changed directly. */
    onVectorMissing(collectionId: string) {
      const adopting = vectors.adopt(collectionId, embedder.model).then(backfill.wake);
      // Embedding is only delayed: the next start marks every collection for the backfill.
      adopting.catch((error: unknown) => logger.warn({ err: error }, 'chunk embedding delayed'));
    },
    ofCollections: {
      model: embedder.model,
      isReady: backfill.isReady,
      async restart(collectionId: string) {
        await vectors.adopt(collectionId, embedder.model);
        await vectors.restart(collectionId, embedder.model);
        backfill.wake();
      },
    },
    close: async () => {
      await backfill.close();
      await index.close();
    },
  };
}

/** The rows of one read, which take 5 ms of the event loop. */
const codesAtOnce = 2000;

async function* loadCodes(vectors: VectorRepository, space: VectorSpace, change: number): AsyncGenerator<CodePage> {
  const width = Math.ceil(space.dimensions / 8);
  for (let after = { change, seq: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = await vectors.codes(space, after, codesAtOnce);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = { change: last.change, seq: last.seq };
    // A text that the model refused has no vector.
    const coded = rows.filter(({ code }) => code.length === width);
    const codes = new Uint8Array(coded.length * width);
    for (const [place, { code }] of coded.entries()) codes.set(code, place * width);
    yield { seqs: Float64Array.from(coded, ({ seq }) => seq), codes };
  }
}
