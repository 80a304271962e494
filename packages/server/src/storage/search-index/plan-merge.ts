import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../platform/clock.ts';
import { chooseMerge } from '../../stores/search/segments/choose-merge.ts';
import type { Tables } from '../database/tables.ts';
import type { MergeParts } from './merge-steps.ts';

/** How long replaced segments stay. */
export interface SegmentTimes {
  readonly clock: Clock;
  /** Milliseconds for which replaced segments are kept for the questions that have listed them. */
  readonly keptMs: number;
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

export interface PlannedMerge extends MergeParts, MergePlace {
  /** The place of the new segment in the order of the collection. */
  readonly position: number;
  /** The lowest version of the analysis of the parts. */
  readonly analysis: number;
}

/**
 * Chooses segments to merge.
 * @returns undefined when no merge is due, or when another process merges the collection. It looks again after each merge
 */
export async function planMerge(db: Kysely<Tables>, place: MergePlace): Promise<PlannedMerge | undefined> {
  const found = await db
    .selectFrom('index_segment')
    .select(['id', 'state', 'position', 'chunks', 'removals', 'analysis'])
    .where('collection_id', '=', place.collectionId)
    .where('state', 'in', [place.state, 'building'])
    .orderBy('position')
    .execute();
  if (found.some(({ state }) => state === 'building')) return undefined;
  const segments = found.map(({ state, ...segment }) => segment);
  const range = chooseMerge(segments);
  if (range === undefined) return undefined;
  const parts = segments.slice(range.from, range.to);
  const [first] = parts;
  if (first === undefined) return undefined;
  const analysis = Math.min(...parts.map((part) => part.analysis));
  const ids = parts.map(({ id }) => id);
  return { ...place, segments: ids, areFirst: range.from === 0, position: first.position, analysis };
}

/** Milliseconds after the last stored pages of a merge after which its process counts as ended. */
const mergeLeaseMs = 60_000;

/** The time until which other processes leave a merge alone. Each transaction with pages extends it. */
export const mergedUntil = ({ clock }: SegmentTimes) => clock.now() + mergeLeaseMs;

/** Inserts the row of the new segment. @returns its id */
export async function insertTarget(
  db: Kysely<Tables>,
  { collectionId, analysis }: PlannedMerge,
  times: SegmentTimes,
): Promise<number> {
  const empty = { position: 0, chunks: 0, removals: 0, pages: 0, header: new Uint8Array(0) };
  const { id } = await db
    .insertInto('index_segment')
    .values({ collection_id: collectionId, state: 'building', analysis, expires_at: mergedUntil(times), ...empty })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Chooses unfinished segments. */
export interface Unfinished {
  readonly collectionId?: string;
  /** The segment of this process. */
  readonly target?: number;
  /** Only segments of processes that have stored nothing for long at this time. Without it, also those of processes that may run. */
  readonly now?: number;
}

/** Gives up the segments of interrupted merges. */
export async function retireUnfinished(
  write: Kysely<Tables>,
  { collectionId, target, now }: Unfinished = {},
): Promise<void> {
  const all = write.updateTable('index_segment').set({ state: 'retired', expires_at: null });
  let unfinished = all.where('state', '=', 'building');
  if (collectionId !== undefined) unfinished = unfinished.where('collection_id', '=', collectionId);
  if (target !== undefined) unfinished = unfinished.where('id', '=', target);
  if (now !== undefined)
    unfinished = unfinished.where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '<=', now)]));
  await unfinished.execute();
}

/** A collection with fewer segments needs no merge. */
const leastSegments = 8;

/** Returns the collections that earlier processes left unmerged. */
export async function findUnmerged(write: Kysely<Tables>): Promise<string[]> {
  const rows = await write
    .selectFrom('index_segment')
    .select('collection_id')
    .groupBy('collection_id')
    .having((having) =>
      having.or([
        having(having.fn.countAll<number>(), '>=', leastSegments),
        having(having.fn.max('state'), '=', 'retired'),
        having(having.fn.min('state'), '=', 'building'),
      ]),
    )
    .execute();
  return rows.map((row) => row.collection_id);
}

/** Returns the collections with segments that may be deleted now, or that an ended process has not finished. Reads no others. */
export async function findExpired(write: Kysely<Tables>, now: number): Promise<string[]> {
  const rows = await write
    .selectFrom('index_segment')
    .select('collection_id')
    .distinct()
    .where('state', '<>', sql.lit('live')) // a parameter would make the partial index unusable
    .where('state', 'in', ['retired', 'building'])
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '<=', now)]))
    .execute();
  return rows.map((row) => row.collection_id);
}

/** Whether no other process has replaced or deleted the parts. */
export async function areLive(db: Kysely<Tables>, { segments, state }: PlannedMerge): Promise<boolean> {
  const live = await db
    .selectFrom('index_segment')
    .select('id')
    .where('id', 'in', segments)
    .where('state', '=', state)
    .execute();
  return live.length === segments.length;
}

/** The collection was deleted or rebuilt while its segments were merged, or another process serves the store now. */
export class PartsGone extends Error {
  override readonly name = 'PartsGone';
  constructor() {
    super('a merged segment is no longer live');
  }
}

/** The disk has become nearly full during a merge. */
export class NoFreeSpace extends Error {
  override readonly name = 'NoFreeSpace';
  constructor() {
    super('the disk is nearly full');
  }
}
