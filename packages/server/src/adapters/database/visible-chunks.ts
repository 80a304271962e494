import type { Kysely } from 'kysely';
import type { TextMatch } from './full-text.ts';
import type { Tables } from './tables.ts';

/** Stays below SQLite's 32,766 parameters a statement. */
const askedAtOnce = 1000;

/** Those of the chunks that may be found: made by hand, or of the generation that their record shows now. */
export async function findVisibleChunks(db: Kysely<Tables>, seqs: readonly number[]): Promise<Set<number>> {
  if (seqs.length === 0) return new Set();
  const rows = await db
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
    )
    .execute();
  return new Set(rows.map((row) => row.seq));
}

/** The first `limit` visible ones of a ranked list; `rank(n)` gives its first n. */
export async function takeVisible(
  db: Kysely<Tables>,
  limit: number,
  rank: (count: number) => Promise<TextMatch[]>,
): Promise<TextMatch[]> {
  const taken: TextMatch[] = [];
  let seen = 0;
  for (let count = Math.max(4 * limit, 100); ; count *= 8) {
    const ranked = await rank(count);
    for (; seen < ranked.length && taken.length < limit; seen += askedAtOnce) {
      const piece = ranked.slice(seen, seen + askedAtOnce);
      const visible = await findVisibleChunks(
        db,
        piece.map((match) => match.seq),
      );
      taken.push(...piece.filter((match) => visible.has(match.seq)));
    }
    if (taken.length >= limit || ranked.length < count) return taken.slice(0, limit);
    seen = ranked.length;
  }
}
