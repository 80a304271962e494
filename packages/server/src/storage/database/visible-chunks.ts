import { type Kysely, sql } from 'kysely';
import type { ChunkFilter, FoundChunk, RankedChunk } from '../../stores/search/chunk-index.ts';
import { columnsOfChunk, fileSql } from './chunk-columns.ts';
import type { ChunkRow, Database } from './database.ts';
import { metadataFilter } from './metadata-filter.ts';
import type { Tables } from './tables.ts';

export const fileOfRecord = sql.raw<string | null>(fileSql).as('file');

const nameOfRecord = <Name extends 'title' | 'file_id' | 'url'>(name: Name) =>
  sql.ref<string | null>(`record.${name}`).as(name);

/** What an answer needs of the record of a chunk. All are null for a chunk without a record. */
export const namesOfRecord = [
  nameOfRecord('title'),
  nameOfRecord('file_id'),
  nameOfRecord('url'),
  fileOfRecord,
] as const;

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
  const found = await visibleRows(db, seqs, { dialect, filter }).select('chunk.seq').execute();
  return new Set(found.map((row) => row.seq));
}

/** Selects from the chunks that a search may find, with their records. */
export function visibleRows(db: Kysely<Tables>, seqs: readonly number[], { dialect, filter }: Condition) {
  const rows = db
    .selectFrom('chunk')
    .leftJoin('record', 'record.id', 'chunk.record_id')
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
  return filter === undefined ? rows : rows.where(metadataFilter(dialect, filter));
}

/** Returns the visible entries, in their order. */
async function keepVisible(
  db: Kysely<Tables>,
  ranked: readonly RankedChunk[],
  { withChunks, ...condition }: Condition & { readonly withChunks: boolean },
): Promise<ReadonlyArray<FoundChunk<ChunkRow>>> {
  const seqs = ranked.map(({ seq }) => seq);
  if (seqs.length === 0) return [];
  if (!withChunks) {
    const visible = await findVisibleChunks(db, seqs, condition);
    return ranked.filter(({ seq }) => visible.has(seq));
  }
  const rows = await visibleRows(db, seqs, condition)
    .select([...columnsOfChunk, ...namesOfRecord])
    .execute();
  const chunks = new Map(rows.map((row) => [row.seq, row]));
  return ranked.flatMap((match) => {
    const chunk = chunks.get(match.seq);
    return chunk === undefined ? [] : [{ ...match, chunk }];
  });
}

export interface VisibleQuery extends Condition {
  readonly limit: number;
  /** Number of entries that are ranked first without a condition. */
  readonly least?: number;
  /** Whether to return the chunks too, where a statement reads so few that this costs little. */
  readonly withChunks?: boolean | undefined;
  /** Whether most ranked entries meet the condition. */
  readonly isRestricted?: boolean;
  /** Called when ranked entries are not visible, unless the filter may be the reason. */
  readonly onHidden?: () => void;
}

const mostWithChunks = 100;

/** With a condition, most entries of a list may fail. One larger ranking then costs less than several small ones. */
const leastConditioned = 2000;
const leastSeen = 100;

/**
 * Returns the first `limit` visible entries of a ranked list that meet the condition. `rank(n)` returns its first n
 * entries.
 */
export async function takeVisible(
  db: Kysely<Tables>,
  {
    limit,
    least = Math.max(4 * limit, leastSeen),
    withChunks = false,
    isRestricted = false,
    onHidden,
    ...condition
  }: VisibleQuery,
  rank: (count: number) => Promise<RankedChunk[]>,
): Promise<Array<FoundChunk<ChunkRow>>> {
  const matches: Array<FoundChunk<ChunkRow>> = [];
  let seen = 0;
  const first = condition.filter === undefined || isRestricted ? least : Math.max(4 * limit, leastConditioned);
  for (let count = first; ; count *= 8) {
    const ranked = await rank(count);
    for (; seen < ranked.length && matches.length < limit; seen += askedAtOnce) {
      const piece = ranked.slice(seen, seen + askedAtOnce);
      const isSmall = piece.length <= mostWithChunks;
      const visible = await keepVisible(db, piece, { ...condition, withChunks: withChunks && isSmall });
      if (visible.length < piece.length && (condition.filter === undefined || isRestricted)) onHidden?.();
      matches.push(...visible);
    }
    if (matches.length >= limit || ranked.length < count) return matches.slice(0, limit);
    seen = ranked.length;
  }
}
