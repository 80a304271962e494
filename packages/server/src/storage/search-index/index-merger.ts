import type { Kysely } from 'kysely';
import { type RunningTask, startPeriodicTask } from '../../platform/concurrency/periodic-task.ts';
import type { Logger } from '../../platform/log/logger.ts';
import { leastParts } from '../../stores/search/segments/choose-merge.ts';
import type { MergedSegment } from '../../stores/search/segments/merge-segments.ts';
import type { Tables } from '../database/tables.ts';
import { clearRetired } from './drop-segments.ts';
import type { RebuildSome } from './index-rebuilder.ts';
import { createMergeBacklog } from './merge-backlog.ts';
import type { MergeMetrics } from './merge-metrics.ts';
import type { MergeParts, MergeStep } from './merge-steps.ts';
import {
  areLive,
  findExpired,
  findUnmerged,
  insertTarget,
  keptUntil,
  mergedUntil,
  NoFreeSpace,
  type PartState,
  PartsGone,
  type PlannedMerge,
  planMerge,
  retireUnfinished,
  type SegmentTimes,
} from './plan-merge.ts';
import { pagesPerSegment, pagesPerTransaction } from './segment-pages.ts';

/** Reads and merges segments outside of the event loop and outside of any write transaction. */
export interface MergeThread {
  start(parts: MergeParts): Promise<void>;
  next(pages: number): Promise<MergeStep>;
  close(): Promise<void>;
}

export interface IndexMergerDeps {
  readonly write: Kysely<Tables>;
  readonly openThread: () => Promise<MergeThread>;
  /** Inserts rows of (id, data). */
  readonly insertPages: (db: Kysely<Tables>, pages: ReadonlyArray<readonly [number, Uint8Array]>) => Promise<unknown>;
  /** Makes a rebuild of the collection by another process wait. SQLite needs none, because it has one writer. */
  readonly holdOffRebuild?: (transaction: Kysely<Tables>, collectionId: string) => Promise<void>;
  readonly times: SegmentTimes;
  readonly metrics: MergeMetrics;
  /** No other process uses the database, so unfinished merges at the start were left by a crash. */
  readonly isAlone?: boolean;
  /** Rebuilds between merges, so that both never change a collection at the same time. */
  readonly rebuildSome: RebuildSome;
  readonly logger: Logger;
}

/** Merges the segments of collections in the background. */
export interface IndexMerger {
  /** Reports a segment that was added, or will be when the transaction commits. Few wait for the next periodic run. */
  changed(collectionId: string): void;
  /**
   * Begins with the collections that an earlier process left unmerged.
   * @param hasFreeSpace whether the disk has enough free space for background work to write
   */
  start(hasFreeSpace: () => Promise<boolean>): void;
  /** Delays a writer while it adds segments to a collection faster than they are merged. Does nothing before `start`. */
  untilMerged(collectionId: string): Promise<void>;
  /** Gives up the merge in progress. The next start removes what it has written. */
  close(): Promise<void>;
}

/** Milliseconds after which a failed merge is tried again. */
const pause = 30_000;
/** Milliseconds between two searches for segments that expire. */
const searchPause = 60_000;
/** Milliseconds after which the transaction of a reported change has ended. */
const commitPause = 30_000;

/**
 * Merges one collection after another, in write transactions of a bounded number of pages. Questions see the parts until one
 * short transaction replaces them by the merged segment. A removal made meanwhile comes after it and applies to it. A process
 * leaves a collection alone while another one merges it. If both began at the same time, the first to replace the parts wins.
 */
export function createIndexMerger(deps: IndexMergerDeps): IndexMerger {
  const changed = new Set<string>();
  /** When collections last changed that are merged again, because a merge may have come before the commit of the change. */
  const uncommitted = new Map<string, number>();
  const backlog = createMergeBacklog(() => deps.metrics.waited?.());
  let task: RunningTask | undefined;
  let isFirstRun = true;
  let searchAt = 0;
  let opened: Promise<MergeThread> | undefined;

  function openThread(): Promise<MergeThread> {
    opened ??= deps.openThread();
    return opened;
  }
  async function closeThread(): Promise<void> {
    const thread = opened;
    opened = undefined;
    await (await thread)?.close();
  }

  /** The first run also finds the collections that earlier processes left unmerged. */
  async function findDue(): Promise<string[]> {
    const now = deps.times.clock.now();
    if (isFirstRun) await retireUnfinished(deps.write, deps.isAlone === true ? {} : { now });
    if (now < searchAt) return [];
    const due = isFirstRun ? await findUnmerged(deps.write) : await findExpired(deps.write, now);
    isFirstRun = false;
    searchAt = now + searchPause;
    return due;
  }

  function takeCommitted(): string[] {
    const latest = deps.times.clock.now() - commitPause;
    const taken = [...uncommitted].filter(([, at]) => at <= latest).map(([id]) => id);
    for (const id of taken) uncommitted.delete(id);
    return taken;
  }

  async function run(signal: AbortSignal, hasFreeSpace: () => Promise<boolean>): Promise<void> {
    for (const id of [...(await findDue()), ...takeCommitted()]) changed.add(id);
    const failed = new Map<string, unknown>();
    const postponed = new Set<string>();
    let isIdle = true;
    while (await hasFreeSpace()) {
      const rebuilt = await deps.rebuildSome();
      if (rebuilt !== undefined) changed.add(rebuilt);
      const due = [...changed].filter((id) => !failed.has(id) && !postponed.has(id));
      if (rebuilt === undefined && due.length === 0) break;
      isIdle = false;
      for (const id of due) {
        // A change during the work adds the collection again.
        changed.delete(id);
        backlog.begins(id);
        try {
          const outcome = await mergeSegmentsOf(id, { ...deps, openThread, hasFreeSpace, signal });
          if (outcome !== 'done') postponed.add(id);
        } catch (error) {
          failed.set(id, error);
        }
        backlog.ended(id);
        signal.throwIfAborted();
      }
    }
    for (const id of [...failed.keys(), ...postponed]) changed.add(id);
    // A run without changes closes the thread.
    if (isIdle) await closeThread();
    if (failed.size > 0) throw new AggregateError(failed.values(), 'some collections could not be merged');
  }
  return {
    changed(collectionId) {
      changed.add(collectionId);
      uncommitted.set(collectionId, deps.times.clock.now());
      if (backlog.added(collectionId) >= leastParts) task?.trigger();
    },
    start(hasFreeSpace) {
      const runWithSpace = (signal: AbortSignal) => run(signal, hasFreeSpace).finally(backlog.release);
      task ??= startPeriodicTask({ name: 'index merges', pause, run: runWithSpace }, (error) => {
        deps.metrics.failed();
        deps.logger.error({ err: error }, 'index merge failed');
      });
    },
    untilMerged: async (collectionId) => (task === undefined ? undefined : backlog.untilMerged(collectionId)),
    async close() {
      await task?.close();
      backlog.release();
      await closeThread();
    },
  };
}

export interface MergeContext extends Omit<IndexMergerDeps, 'logger' | 'rebuildSome'> {
  /** Asked before each transaction that stores pages. */
  readonly hasFreeSpace: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Merges the segments of a collection until no merge is due, and deletes the expired ones.
 * @returns `postponed` when the disk is nearly full. Nothing unfinished is left
 */
export async function mergeSegmentsOf(collectionId: string, merging: MergeContext): Promise<'done' | 'postponed'> {
  const { write, signal, times } = merging;
  await retireUnfinished(write, { collectionId, now: times.clock.now() });
  let isPostponed = false;
  for (const state of ['rebuilt', 'live'] as const) {
    let outcome = await mergeOnce(collectionId, state, merging);
    while (outcome === 'merged') outcome = await mergeOnce(collectionId, state, merging);
    isPostponed ||= outcome === 'postponed';
  }
  while (!(await clearRetired(write, collectionId, times.clock.now()))) signal.throwIfAborted();
  return isPostponed ? 'postponed' : 'done';
}

async function mergeOnce(
  collectionId: string,
  state: PartState,
  merging: MergeContext,
): Promise<'merged' | 'none' | 'postponed'> {
  const { write, signal, hasFreeSpace } = merging;
  if (!(await hasFreeSpace())) return 'postponed';
  const planned = await planMerge(write, { collectionId, state });
  if (planned === undefined) return 'none';
  const target = await insertTarget(write, planned, merging.times);
  try {
    const thread = await merging.openThread();
    await thread.start({ segments: planned.segments, areFirst: planned.areFirst });
    await fillTarget(merging, { thread, target, ...planned });
    return 'merged';
  } catch (error) {
    // If the cleanup fails, the next run repeats it. The first error is reported.
    if (!signal.aborted) await retireUnfinished(write, { target }).catch(() => {});
    if (error instanceof PartsGone) return 'none';
    if (error instanceof NoFreeSpace) return 'postponed';
    // A thread that finds no part reports another error: another process has replaced or deleted it meanwhile.
    if (signal.aborted || (await areLive(write, planned))) throw error;
    return 'none';
  }
}

interface Target extends PlannedMerge {
  readonly thread: MergeThread;
  readonly target: number;
}

async function fillTarget(merging: MergeContext, { thread, ...planned }: Target): Promise<void> {
  const { signal, hasFreeSpace } = merging;
  for (let number = 0; ; ) {
    signal.throwIfAborted();
    const { pages, merged } = await thread.next(pagesPerTransaction);
    if (!(await hasFreeSpace())) throw new NoFreeSpace();
    await storePages(merging, { target: planned.target, number, pages });
    number += pages.length;
    if (merged === null) continue;
    await replaceParts(merging, { ...planned, merged });
    merging.metrics.merged(merged.chunks);
    return;
  }
}

interface StoredPages {
  readonly target: number;
  /** The number of the first page. */
  readonly number: number;
  readonly pages: readonly Uint8Array[];
}

function storePages(merging: MergeContext, { target, number, pages }: StoredPages): Promise<void> {
  const { write, insertPages, times } = merging;
  const first = target * pagesPerSegment + number;
  return write.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('index_segment')
      .set({ pages: number + pages.length, expires_at: mergedUntil(times) })
      .where('id', '=', target)
      .where('state', '=', 'building')
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new PartsGone();
    await insertPages(
      transaction,
      pages.map((page, at) => [first + at, page] as const),
    );
  });
}

interface Replacement extends Omit<Target, 'thread'> {
  readonly merged: MergedSegment;
}

/**
 * Shows the merged segment instead of its parts. The updates lock all of them. A rebuild waits, because it would not see
 * the merged segment when it shows the rebuilt ones.
 */
function replaceParts({ write, times, holdOffRebuild }: MergeContext, replacement: Replacement): Promise<void> {
  const { segments, target, state, position } = replacement;
  const { header, chunks, removals } = replacement.merged;
  const shownAs = chunks + removals === 0 ? 'retired' : state;
  return write.transaction().execute(async (transaction) => {
    await holdOffRebuild?.(transaction, replacement.collectionId);
    const hidden = await transaction
      .updateTable('index_segment')
      .set({ state: 'retired', expires_at: keptUntil(times) })
      .where('id', 'in', segments)
      .where('state', '=', state)
      .executeTakeFirst();
    if (hidden.numUpdatedRows !== BigInt(segments.length)) throw new PartsGone();
    const shown = await transaction
      .updateTable('index_segment')
      .set({ state: shownAs, position, chunks, removals, header, expires_at: null })
      .where('id', '=', target)
      .where('state', '=', 'building')
      .executeTakeFirst();
    if (shown.numUpdatedRows === 0n) throw new PartsGone();
  });
}
