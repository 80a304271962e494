import type { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { chooseMerge } from '../../search/segments/choose-merge.ts';
import type { Tables } from '../database/tables.ts';
import { tryLockMerges } from './index-locks.ts';
import type { MergeParts } from './merge-steps.ts';

/** How long unfinished and replaced segments stay. */
export interface SegmentTimes {
  readonly clock: Clock;
  /**
   * True when several processes merge. The row of an unfinished segment is then a lease on its collection, which each
   * step of the merge extends.
   */
  readonly isShared: boolean;
  /** Milliseconds for which replaced segments are kept for the questions that have listed them. */
  readonly keptMs: number;
}

/** A merge that has written nothing for this long is taken as interrupted. */
const leaseMs = 60_000;

export function leaseEnd({ clock }: SegmentTimes): number {
  return clock.now() + leaseMs;
}

/** The time from which on segments that are replaced now may be deleted. */
export function keptUntil({ clock, keptMs }: SegmentTimes): number {
  return clock.now() + keptMs;
}

/** The segments of a rebuild in progress are merged among themselves. */
export type PartState = 'live' | 'rebuilt';

interface MergePlace {
  readonly collectionId: string;
  /** The state of the parts, and of the segment that replaces them. */
  readonly state: PartState;
}

export interface ClaimedMerge extends MergeParts, MergePlace {
  /** The id of the new segment. */
  readonly target: number;
  /** The place of the new segment in the order of the collection. */
  readonly position: number;
}

/**
 * Chooses segments to merge and inserts the row of the new segment. `busy` means that another process merges this
 * collection.
 */
export async function claimMerge(
  write: Kysely<Tables>,
  place: MergePlace,
  times: SegmentTimes,
): Promise<ClaimedMerge | 'none' | 'busy'> {
  const { collectionId } = place;
  if ((await planMerge(write, place)) === undefined) return 'none';
  return write.transaction().execute(async (transaction) => {
    if (times.isShared && !(await tryLockMerges(transaction, collectionId))) return 'busy';
    if (await isMerging(transaction, collectionId)) return 'busy';
    const planned = await planMerge(transaction, place);
    if (planned === undefined) return 'none';
    return { ...planned, target: await insertTarget(transaction, planned, leaseEnd(times)) };
  });
}

interface PlannedMerge extends Omit<ClaimedMerge, 'target'> {
  /** The lowest version of the analysis of the parts. */
  readonly analysis: number;
}

async function planMerge(db: Kysely<Tables>, place: MergePlace): Promise<PlannedMerge | undefined> {
  const segments = await db
    .selectFrom('index_segment')
    .select(['id', 'position', 'chunks', 'removals', 'analysis'])
    .where('collection_id', '=', place.collectionId)
    .where('state', '=', place.state)
    .orderBy('position')
    .execute();
  const range = chooseMerge(segments);
  if (range === undefined) return undefined;
  const parts = segments.slice(range.from, range.to);
  const [first] = parts;
  if (first === undefined) return undefined;
  const analysis = Math.min(...parts.map((part) => part.analysis));
  const ids = parts.map(({ id }) => id);
  return { ...place, segments: ids, areFirst: range.from === 0, position: first.position, analysis };
}

async function isMerging(db: Kysely<Tables>, collectionId: string): Promise<boolean> {
  const unfinished = await db
    .selectFrom('index_segment')
    .select('id')
    .where('collection_id', '=', collectionId)
    .where('state', '=', 'building')
    .executeTakeFirst();
  return unfinished !== undefined;
}

/** Gives up the unfinished segments of interrupted merges of a collection. */
export async function retireInterrupted(db: Kysely<Tables>, collectionId: string, now: number): Promise<void> {
  await db
    .updateTable('index_segment')
    .set({ state: 'retired', expires_at: null })
    .where('collection_id', '=', collectionId)
    .where('state', '=', 'building')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '<=', now)]))
    .execute();
}

/** Gives up an unfinished segment. */
export async function retire(db: Kysely<Tables>, target: number): Promise<void> {
  await db
    .updateTable('index_segment')
    .set({ state: 'retired', expires_at: null })
    .where('id', '=', target)
    .where('state', '=', 'building')
    .execute();
}

async function insertTarget(
  db: Kysely<Tables>,
  { collectionId, analysis }: PlannedMerge,
  expiresAt: number,
): Promise<number> {
  const empty = { position: 0, chunks: 0, removals: 0, pages: 0, header: new Uint8Array(0) };
  const { id } = await db
    .insertInto('index_segment')
    .values({ collection_id: collectionId, state: 'building', analysis, expires_at: expiresAt, ...empty })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
