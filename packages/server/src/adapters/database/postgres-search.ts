import { type Kysely, sql } from 'kysely';
import { normaliseWords, toMatch, type Weighing, weigh } from './bm25.ts';
import { createCommonWords } from './common-words.ts';
import type { FullText, TextMatch } from './full-text.ts';
import { findStatistics } from './full-text-statistics.ts';
import { better, createScorePostings, lengthsOfId, type ScoredId, type ScorePostings } from './posting-scores.ts';
import type { Tables } from './tables.ts';
import { takeVisible } from './visible-chunks.ts';

/** Some 3 ms of the event loop and 700 kB. */
const usualPostingsAtOnce = 50_000;
/** Chunks of a word from which on counting them anew costs more than remembering. */
const worthRemembering = 500;

export interface PostgresSearch extends Pick<FullText, 'search'> {
  forget(collectionId: string): void;
}

/**
 * The server only reads the postings: adding them up by chunk is the dear part, and is done here (ADR 0043), about
 * `postingsAtOnce` at a time.
 */
export function createPostgresSearch(postingsAtOnce = usualPostingsAtOnce): PostgresSearch {
  const commonWords = createCommonWords();
  const score = createScorePostings();
  return {
    async search(db, collectionId, { words, limit, filter }) {
      const distinct = [...new Set(normaliseWords(words))];
      if (distinct.length === 0) return [];
      const statistics = await findStatistics(db, collectionId);
      if (statistics === undefined) return [];
      const known = commonWords.of(collectionId, statistics);
      const found = await countChunks(db, collectionId, { words: distinct, known });
      const weighing = weigh(distinct, found, statistics);
      if (weighing.words.length === 0) return [];
      return takeVisible(db, { limit, filter, dialect: 'postgres' }, (count) =>
        rank(db, collectionId, { weighing, found, count, atOnce: postingsAtOnce, score }),
      );
    },
    forget: commonWords.forget,
  };
}

interface Counting {
  readonly words: readonly string[];
  readonly known: Map<string, number>;
}

async function countChunks(db: Kysely<Tables>, collectionId: string, { words, known }: Counting) {
  const found = new Map<string, number>();
  for (const word of words) if (known.has(word)) found.set(word, known.get(word) ?? 0);
  const unknown = words.filter((word) => !found.has(word));
  if (unknown.length === 0) return found;
  const { rows } = await sql<{ word: string; chunks: number }>`
    select word, sum(chunks)::int as chunks from posting
    where collection_id = ${collectionId} and word = any(${unknown}::text[]) group by word`.execute(db);
  for (const { word, chunks } of rows) {
    found.set(word, chunks);
    if (chunks >= worthRemembering) known.set(word, chunks);
  }
  return found;
}

interface Ranking {
  readonly weighing: Weighing;
  readonly found: ReadonlyMap<string, number>;
  readonly count: number;
  readonly atOnce: number;
  readonly score: ScorePostings;
}

/** All postings of a chunk are in one batch, so what is best of some batches does not depend on the others. */
async function rank(db: Kysely<Tables>, collectionId: string, ranking: Ranking): Promise<TextMatch[]> {
  const { weighing, count, score } = ranking;
  let best: ScoredId[] = [];
  for (const range of await findRanges(db, collectionId, ranking)) {
    const words = await readPostings(db, collectionId, { weighing, range });
    const postings = words.reduce((sum, { chunks }) => sum + chunks, 0);
    const ofRange = score(words, { postings, count, base: weighing.base, perWord: weighing.perWord });
    best = [...best, ...ofRange].sort(better).slice(0, count);
  }
  return best.map((chunk) => toMatch({ seq: Math.floor(chunk.id / lengthsOfId), score: chunk.score }));
}

/** Batches from `from` on and before `to`; null: from the first, to the last. */
interface Range {
  readonly from: number | null;
  readonly to: number | null;
}

/** So that none has many more than `atOnce` postings, the batches of the most common word are parted evenly. */
async function findRanges(
  db: Kysely<Tables>,
  collectionId: string,
  { weighing, found, atOnce }: Ranking,
): Promise<Range[]> {
  const counts = weighing.words.map(({ word }) => ({ word, chunks: found.get(word) ?? 0 }));
  const parts = Math.ceil(counts.reduce((sum, { chunks }) => sum + chunks, 0) / atOnce);
  if (parts <= 1) return [{ from: null, to: null }];
  const common = counts.reduce((most, each) => (each.chunks > most.chunks ? each : most));
  const { rows } = await sql<{ first: number }>`
    select min(batch) as first from (
      select batch, ntile(${parts}::int) over (order by batch) as part from posting
      where collection_id = ${collectionId} and word = ${common.word}
    ) as batches group by part order by first`.execute(db);
  const starts = [null, ...rows.slice(1).map(({ first }) => first)];
  return starts.map((from, place) => ({ from, to: starts[place + 1] ?? null }));
}

interface Reading {
  readonly weighing: Weighing;
  readonly range: Range;
}
interface ReadWord {
  readonly word: string;
  readonly chunks: number;
  readonly ids: string;
  readonly repeats: string;
}

async function readPostings(db: Kysely<Tables>, collectionId: string, { weighing, range }: Reading) {
  const weights = new Map(weighing.words.map(({ word, weight }) => [word, weight]));
  const from = range.from === null ? sql`` : sql`and batch >= ${range.from}::bigint`;
  const to = range.to === null ? sql`` : sql`and batch < ${range.to}::bigint`;
  const { rows } = await sql<ReadWord>`
    select word, sum(chunks)::int as chunks, string_agg(ids::text, ',') as ids, string_agg(repeats::text, ',') as repeats
    from posting where collection_id = ${collectionId} and word = any(${[...weights.keys()]}::text[]) ${from} ${to}
    group by word`.execute(db);
  return rows.map((row) => ({ ...row, weight: weights.get(row.word) ?? 0 }));
}
