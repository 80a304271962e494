import type { Admission } from '../../../platform/admission/admission.ts';
import type { Owner } from '../../../platform/admission/owner.ts';
import { mapWithConcurrency } from '../../../platform/concurrency/map-with-concurrency.ts';
import type { Logger } from '../../../platform/log/logger.ts';
import { EmbedderUnavailable } from '../embedding/embedder.ts';
import type { MeasuredVectors, SimilarityScaleRepository, StoredScale } from '../similarity-scale-repository.ts';
import type { StoredVectorSpace } from '../vector-repository.ts';
import { measureScale, type SimilarityScale, sampleSizes } from './similarity-scale.ts';

export interface SimilarityScales {
  /**
   * Returns the scale of the vectors. The first question measures it and waits for a short time; later ones read it.
   * @returns `not_measured` while the first measurement continues; `collection_not_embedded` when the chunks must have
   * their vectors first
   * @throws EmbedderUnavailable
   */
  find(
    space: StoredVectorSpace,
    embedQuestion: EmbedQuestion,
    owner: Owner,
  ): Promise<SimilarityScale | 'not_measured' | 'collection_not_embedded'>;
}

/** Embeds a question with the model of the vectors. */
type EmbedQuestion = (text: string) => Promise<Float32Array>;

/** Milliseconds that a question waits for the first measurement. */
const maxWaitMs = 3_000;
/** Collections whose scales are cached. */
const remembered = 1_000;
/** Concurrent calls of the embedder. */
const lanes = 4;
/** The vectors count while chunks lack theirs only if the model is at least this reliable. Measured: ADR 0130. */
const leastWeightOfPart = 0.9;
const leastShareOfWhole = 0.95;

/**
 * Measures scales and stores them in rows. A scale is measured again when the vectors have changed as often as before it was
 * measured; questions use the old one meanwhile.
 */
export function createSimilarityScales(deps: {
  readonly scales: SimilarityScaleRepository;
  readonly logger: Logger;
  readonly admission: Admission;
}): SimilarityScales {
  const { scales, logger, admission } = deps;
  // A Map preserves the order of insertion, so the first key is the oldest.
  const known = new Map<string, StoredScale>();
  const running = new Map<string, Promise<StoredScale | null>>();
  const queue = admission.queue('similarity_scales', { waiting: Number.POSITIVE_INFINITY });

  function remember(scale: StoredScale): void {
    known.delete(scale.collectionId);
    known.set(scale.collectionId, scale);
    for (const oldest of known.keys()) {
      if (known.size <= remembered) break;
      known.delete(oldest);
    }
  }

  async function read(space: MeasuredVectors): Promise<StoredScale | undefined> {
    const cached = known.get(space.collectionId);
    if (cached !== undefined && isOf(cached, space) && !isOutdated(cached, space)) return cached;
    const stored = await scales.find(space.collectionId);
    if (stored === undefined || !isOf(stored, space)) return undefined;
    remember(stored);
    return stored;
  }

  function measure(of: StoredVectorSpace, embedQuestion: EmbedQuestion, owner: Owner): Promise<StoredScale | null> {
    const { collectionId, model, firstChange, lastChange } = of;
    const space = { collectionId, model, firstChange, lastChange };
    const current = running.get(collectionId);
    if (current !== undefined) return current;
    const work = async () => {
      const sample = await scales.sample({ ...space, slot: of.slot }, sampleSizes.chunks);
      const scale = await measureScale(sample, (texts) => mapWithConcurrency(texts, lanes, embedQuestion));
      if (scale === null) return null;
      const stored = { ...space, ...scale };
      await scales.save(stored);
      remember(stored);
      return stored;
    };
    const started = queue.run(owner, work);
    running.set(collectionId, started);
    const forget = () => running.delete(collectionId);
    started.then(forget, forget);
    return started;
  }

  /** Measures in the background. A failure is repeated by a later question. */
  function refresh(space: StoredVectorSpace, embedQuestion: EmbedQuestion, owner: Owner): void {
    measure(space, embedQuestion, owner).catch((error: unknown) => {
      const reason = error instanceof EmbedderUnavailable ? error.message : error;
      logger.warn({ collection_id: space.collectionId, reason }, 'similarity scale not measured');
    });
  }

  return {
    async find(space, embedQuestion, owner) {
      const stored = await read(space);
      if (stored !== undefined) {
        if (isOutdated(stored, space)) refresh(space, embedQuestion, owner);
        const isPart = space.needsBackfill || stored.share < leastShareOfWhole;
        return isPart && stored.weight < leastWeightOfPart ? 'collection_not_embedded' : stored;
      }
      if (space.needsBackfill) return 'collection_not_embedded';
      const { promise: waited, resolve } = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => resolve(undefined), maxWaitMs);
      const measured = await Promise.race([measure(space, embedQuestion, owner), waited]).finally(() =>
        clearTimeout(timer),
      );
      if (measured === undefined) return 'not_measured';
      return measured ?? 'collection_not_embedded';
    },
  };
}

function isOf(scale: MeasuredVectors, space: MeasuredVectors): boolean {
  return scale.model === space.model && scale.firstChange === space.firstChange;
}

function isOutdated(scale: MeasuredVectors, space: MeasuredVectors): boolean {
  return space.lastChange - space.firstChange >= 2 * (scale.lastChange - scale.firstChange);
}
