import type { Embedder } from '../embedding/embedder.ts';
import type { Clock } from '../kernel/clock.ts';
import type { DiskSpace } from '../kernel/disk-space.ts';
import type { NewId } from '../kernel/identifier.ts';
import type { Logger } from '../kernel/logger.ts';
import { embedMissing } from './embed-chunks.ts';
import { startPolling } from './polling.ts';
import type { CatchUp, VectorRepository } from './vector-repository.ts';

export interface CatchUpDeps {
  readonly embedder: Embedder;
  readonly vectors: VectorRepository;
  readonly space?: DiskSpace | undefined;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly pollMs: number;
  /** Milliseconds before the second try; twice as long before each further one, up to five minutes. */
  readonly backoffMs: number;
}

export interface CatchingUp {
  /** A collection may be behind. */
  wake(): void;
  /** Whether every collection has been marked as behind, or confirmed, since the start. */
  isReady(): boolean;
  close(): Promise<void>;
}

const longestPauseMs = 5 * 60_000;

/**
 * Embeds what has no vector although it is there: chunks made directly or changed, records that did not wait, and
 * collections that were there before the embedder. One collection after another, for ever again until it works.
 */
export function openCatchUp(deps: CatchUpDeps): CatchingUp {
  const closing = new AbortController();
  const { signal } = closing;
  const hasRoom = async () => (await deps.space?.hasRoom()) ?? true;
  let isReady = false;

  async function look(): Promise<void> {
    if (!isReady) {
      await deps.vectors.adoptAll(deps.embedder.model);
      isReady = true;
      await confirmComplete(deps, signal);
    }
    while (!signal.aborted && (await hasRoom()) && (await catchUpOne(deps, signal)));
  }

  const polling = startPolling({
    look,
    everyMs: deps.pollMs,
    onError: (error) => {
      if (!signal.aborted) deps.logger.error({ err: error }, 'catching up with vectors failed');
    },
  });
  return {
    wake: polling.wake,
    isReady: () => isReady,
    async close() {
      closing.abort();
      await polling.close();
    },
  };
}

/**
 * After a start every collection counts as behind and is answered by words. Collections with all vectors are confirmed before
 * the first text is embedded, so that they do not wait for an unavailable embedder.
 */
async function confirmComplete(deps: CatchUpDeps, signal: AbortSignal): Promise<void> {
  const { vectors, clock, embedder, leaseMs } = deps;
  while (!signal.aborted) {
    const now = clock.now();
    const claim = { model: embedder.model, token: deps.newId('run'), now, leaseUntil: now + leaseMs, isFirst: true };
    const held = await vectors.claimCatchUp(claim);
    if (held === undefined) return;
    const [missing] = await vectors.missing({ collectionId: held.collectionId }, { after: null, limit: 1 });
    await vectors.endCatchUp(held, missing === undefined ? { done: true } : { done: false, runAfter: now });
  }
}

/** @returns whether there was one. */
async function catchUpOne(deps: CatchUpDeps, signal: AbortSignal): Promise<boolean> {
  const { vectors, clock, embedder, leaseMs } = deps;
  const now = clock.now();
  const claim = { model: embedder.model, token: deps.newId('run'), now, leaseUntil: now + leaseMs };
  const held = await vectors.claimCatchUp(claim);
  if (held === undefined) return false;
  try {
    await catchUp(deps, held, signal);
  } catch (error) {
    const runAfter = signal.aborted ? 0 : clock.now() + pauseOf(deps, held);
    await vectors.endCatchUp(held, { done: false, runAfter });
    if (!signal.aborted) throw error;
  }
  return true;
}

async function catchUp(deps: CatchUpDeps, held: CatchUp, signal: AbortSignal): Promise<void> {
  const { vectors, clock, leaseMs, logger } = deps;
  const onRound = () => vectors.keepCatchUp(held, clock.now() + leaseMs);
  const end = await embedMissing(deps, { of: { collectionId: held.collectionId }, signal, onRound });
  if (end.kind === 'done') return vectors.endCatchUp(held, { done: true });
  if (end.kind === 'unavailable') {
    const pause = pauseOf(deps, held);
    const about = { collection_id: held.collectionId, reason: end.message, pause };
    logger.warn(about, 'vectors cannot be made just now');
    return vectors.endCatchUp(held, { done: false, runAfter: clock.now() + pause });
  }
}

function pauseOf({ backoffMs }: CatchUpDeps, held: CatchUp): number {
  return Math.min(longestPauseMs, backoffMs * 2 ** Math.min(held.attempt - 1, 20));
}
