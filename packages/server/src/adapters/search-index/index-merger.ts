import type { Kysely } from 'kysely';
import { type RunningTask, startPeriodicTask } from '../../kernel/concurrency/periodic-task.ts';
import type { Logger } from '../../kernel/log/logger.ts';
import { chooseMerge } from '../../search/segments/choose-merge.ts';
import type { MergedSegment } from '../../search/segments/merge-segments.ts';
import type { Tables } from '../database/tables.ts';
import { clearRetired } from './drop-segments.ts';
import type { RebuildSome } from './index-rebuilder.ts';
import { createMergeBacklog } from './merge-backlog.ts';
import type { MergeMetrics } from './merge-metrics.ts';
import type { MergeParts, MergeStep } from './merge-steps.ts';
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
  readonly metrics: MergeMetrics;
  /** Rebuilds between merges, so that both never change a collection at the same time. */
  readonly rebuildSome: RebuildSome;
  readonly logger: Logger;
}

/** Merges the segments of collections in the background. */
export interface IndexMerger {
  /** Reports that segments were added to a collection, or will be when the current transaction commits. */
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
/** A collection with fewer segments needs no merge. */
const leastSegments = 8;

/**
 * Merges one collection after another, in write transactions of a bounded number of pages. Questions see the parts until
 * one short transaction replaces them by the merged segment. A removal made meanwhile comes after it and applies to it.
 */
export function createIndexMerger(deps: IndexMergerDeps): IndexMerger {
  const changed = new Set<string>();
  const backlog = createMergeBacklog(() => deps.metrics.waited?.());
  let task: RunningTask | undefined;
  let isFirstRun = true;
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

  async function run(signal: AbortSignal, hasFreeSpace: () => Promise<boolean>): Promise<void> {
    if (isFirstRun) for (const id of await recoverInterrupted(deps.write)) changed.add(id);
    isFirstRun = false;
    const failed = new Map<string, unknown>();
    let isIdle = true;
    while (await hasFreeSpace()) {
      const rebuilt = await deps.rebuildSome();
      if (rebuilt !== undefined) changed.add(rebuilt);
      const due = [...changed].filter((id) => !failed.has(id));
      if (rebuilt === undefined && due.length === 0) break;
      isIdle = false;
      for (const id of due) {
        // A change during the work adds the collection again.
        changed.delete(id);
        backlog.begins(id);
        await mergeSegmentsOf(id, { ...deps, openThread, signal }).catch((error: unknown) => failed.set(id, error));
        backlog.ended(id);
        signal.throwIfAborted();
      }
    }
    for (const id of failed.keys()) changed.add(id);
    // A run without changes closes the thread.
    if (isIdle) await closeThread();
    if (failed.size > 0) throw new AggregateError(failed.values(), 'some collections could not be merged');
  }
  return {
    changed(collectionId) {
      changed.add(collectionId);
      backlog.added(collectionId);
      task?.trigger();
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

/** Retires the segments that an interrupted merge has written. Returns the collections that need a merge or a deletion. */
async function recoverInterrupted(write: Kysely<Tables>): Promise<string[]> {
  await write.updateTable('index_segment').set({ state: 'retired' }).where('state', '=', 'building').execute();
  const rows = await write
    .selectFrom('index_segment')
    .select('collection_id')
    .groupBy('collection_id')
    .having((having) =>
      having.or([
        having(having.fn.countAll<number>(), '>=', leastSegments),
        having(having.fn.max('state'), '=', 'retired'),
      ]),
    )
    .execute();
  return rows.map((row) => row.collection_id);
}

export interface MergeContext extends Omit<IndexMergerDeps, 'logger' | 'rebuildSome'> {
  readonly signal: AbortSignal;
}

/** Merges the segments of a collection until no merge is due, and deletes the replaced ones. */
export async function mergeSegmentsOf(collectionId: string, merging: MergeContext): Promise<void> {
  for (const state of ['rebuilt', 'live'] as const) while (await mergeOnce(collectionId, state, merging));
  while (!(await clearRetired(merging.write, collectionId))) merging.signal.throwIfAborted();
}

/** @returns false when no merge is due, or the collection was deleted meanwhile */
async function mergeOnce(collectionId: string, state: PartState, merging: MergeContext): Promise<boolean> {
  const { write, signal } = merging;
  const segments = await write
    .selectFrom('index_segment')
    .select(['id', 'position', 'chunks', 'removals', 'analysis'])
    .where('collection_id', '=', collectionId)
    .where('state', '=', state)
    .orderBy('position')
    .execute();
  const range = chooseMerge(segments);
  if (range === undefined) return false;
  const parts = segments.slice(range.from, range.to);
  const ids = parts.map(({ id }) => id);
  const thread = await merging.openThread();
  await thread.start({ segments: ids, areFirst: range.from === 0 });
  const target = await insertTarget(write, collectionId, Math.min(...parts.map(({ analysis }) => analysis)));
  try {
    return await fillTarget(merging, { thread, target, state, parts: ids, position: parts[0]?.position ?? target });
  } catch (error) {
    // Should this fail too, the next start does it, and the first error is reported.
    if (!signal.aborted) await retire(write, target).catch(() => {});
    throw error;
  }
}

interface Target extends Omit<Replacement, 'merged'> {
  readonly thread: MergeThread;
}

/** @returns false when the collection was deleted meanwhile */
async function fillTarget(merging: MergeContext, { thread, ...replaced }: Target): Promise<boolean> {
  const { write, signal } = merging;
  const { target } = replaced;
  for (let number = 0; ; ) {
    signal.throwIfAborted();
    const { pages, merged } = await thread.next(pagesPerTransaction);
    if (!(await storePages(merging, { target, number, pages }))) return false;
    number += pages.length;
    if (merged === null) continue;
    const isReplaced = await replaceParts(write, { ...replaced, merged });
    if (isReplaced) merging.metrics.merged(merged.chunks);
    return isReplaced;
  }
}

async function retire(write: Kysely<Tables>, target: number): Promise<void> {
  await write
    .updateTable('index_segment')
    .set({ state: 'retired' })
    .where('id', '=', target)
    .where('state', '=', 'building')
    .execute();
}

async function insertTarget(write: Kysely<Tables>, collectionId: string, analysis: number): Promise<number> {
  const empty = { position: 0, chunks: 0, removals: 0, pages: 0, header: new Uint8Array(0) };
  const { id } = await write
    .insertInto('index_segment')
    .values({ collection_id: collectionId, state: 'building', analysis, ...empty })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

interface StoredPages {
  readonly target: number;
  /** The number of the first page. */
  readonly number: number;
  readonly pages: readonly Uint8Array[];
}

/** @returns false when the collection was deleted meanwhile */
function storePages({ write, insertPages }: MergeContext, { target, number, pages }: StoredPages): Promise<boolean> {
  const first = target * pagesPerSegment + number;
  return write.transaction().execute(async (transaction) => {
    if (!(await holdTarget(transaction, target, number + pages.length))) return false;
    await insertPages(
      transaction,
      pages.map((page, at) => [first + at, page] as const),
    );
    return true;
  });
}

/** Sets the number of pages. @returns false when the collection was deleted meanwhile */
async function holdTarget(db: Kysely<Tables>, target: number, pages: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('index_segment')
    .set({ pages })
    .where('id', '=', target)
    .where('state', '=', 'building')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The segments of a rebuild in progress are merged among themselves. */
type PartState = 'live' | 'rebuilt';

interface Replacement {
  /** The state of the parts, and of the segment that replaces them. */
  readonly state: PartState;
  readonly parts: readonly number[];
  readonly target: number;
  readonly merged: MergedSegment;
  readonly position: number;
}

/** @returns false when the collection was deleted meanwhile */
function replaceParts(write: Kysely<Tables>, replacement: Replacement): Promise<boolean> {
  const { state, parts, target, merged, position } = replacement;
  const { header, chunks, removals } = merged;
  return write.transaction().execute(async (transaction) => {
    const shown = await transaction
      .updateTable('index_segment')
      .set({ state: chunks + removals === 0 ? 'retired' : state, position, chunks, removals, header })
      .where('id', '=', target)
      .where('state', '=', 'building')
      .executeTakeFirst();
    if (shown.numUpdatedRows === 0n) return false;
    const hidden = await transaction
      .updateTable('index_segment')
      .set({ state: 'retired' })
      .where('id', 'in', parts)
      .where('state', '=', state)
      .executeTakeFirst();
    if (hidden.numUpdatedRows !== BigInt(parts.length)) throw new Error('a merged segment is no longer live');
    return true;
  });
}
