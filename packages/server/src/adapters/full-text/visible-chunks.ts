import type { Kysely } from 'kysely';
import type { ChunkFilter, RankedChunk } from '../../search/chunk-index.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { metadataFilter } from './metadata-filter.ts';

/** Stays below SQLite's limit of 32,766 parameters per statement. */
const askedAtOnce = 1000;

export interface Condition {
  readonly dialect: Database['dialect'];
  readonly filter?: ChunkFilter | undefined;
}

/**
 * Returns the chunks that a search may find: those created directly, and those of the generation that their record
 * shows.
 */
export async function findVisibleChunks(
  db: Kysely<Tables>,
  seqs: readonly number[],
  { dialect, filter }: Condition,
): Promise<Set<number>> {
  if (seqs.length === 0) return new Set();
  const rows = db
    .selectFrom('chunk')
    .leftJoin('record', 'record.id', 'chunk.record_id')
    .select('chunk.seq')
    .where('chunk.seq', 'in', seqs)
    .where((where) =>
      where.or([
        where('chunk.record_id', 'is', null),
        where.and([
          where('chunk.generation', '=', where.ref('record.generation')),
          where('record.status', '!=', 'deleting'),
        ]),
      ]),
    );
  const found = await (filter === undefined ? rows : rows.where(metadataFilter(dialect, filter))).execute();
  return new Set(found.map((row) => row.seq));
}

export interface VisibleQuery extends Condition {
  readonly limit: number;
  /** Number of entries that are ranked first without a condition. */
  readonly least?: number;
}

/** With a condition, most entries of a list may fail. One larger ranking then costs less than several small ones. */
const leastConditioned = 2000;
const leastSeen = 100;

/**
 * Returns the first `limit` visible entries of a ranked list that meet the condition. `rank(n)` returns its first n
 * entries.
 */
export async function takeVisible(
  db: Kysely<Tables>,
  { limit, least = Math.max(4 * limit, leastSeen), ...condition }: VisibleQuery,
  rank: (count: number) => Promise<RankedChunk[]>,
): Promise<RankedChunk[]> {
  const matches: RankedChunk[] = [];
  let seen = 0;
  const first = condition.filter === undefined ? least : Math.max(4 * limit, leastConditioned);
  for (let count = first; ; count *= 8) {
    const ranked = await rank(count);
    for (; seen < ranked.length && matches.length < limit; seen += askedAtOnce) {
      const piece = ranked.slice(seen, seen + askedAtOnce);
      const visible = await findVisibleChunks(
        db,
        piece.map((match) => match.seq),
        condition,
      );
      matches.push(...piece.filter((match) => visible.has(match.seq)));
    }
    if (matches.length >= limit || ranked.length < count) return matches.slice(0, limit);
    seen = ranked.length;
  }
}
