import { type Kysely, sql } from 'kysely';
import type { RankedChunk } from '../../search/chunk-index.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { mostLength, normaliseWords, toMatch, type WeightedQuery, weigh } from './bm25.ts';
import { createCommonWords } from './common-words.ts';
import { findStatistics } from './full-text-statistics.ts';
import { takeVisible } from './visible-chunks.ts';

/** A posting combines a chunk's seq with its length: seq · 65536 + length. */
export const lengthsOfId = mostLength + 1;
/** Counts of words with at least this many chunks are cached, because counting them again costs more. */
const worthRemembering = 500;

export interface PostgresSearch extends Pick<DatabaseSearchIndex, 'ask'> {
  forget(collectionId: string): void;
}

export function createPostgresSearch(): PostgresSearch {
  const commonWords = createCommonWords();
  return {
    async ask(db, { collectionId, words, limit, filter }) {
      const distinct = [...new Set(normaliseWords(words))];
      if (distinct.length === 0) return [];
      const statistics = await findStatistics(db, collectionId);
      if (statistics === undefined) return [];
      const known = commonWords.of(collectionId, statistics);
      const found = await countChunks(db, collectionId, { words: distinct, known });
      const query = weigh(distinct, found, statistics);
      if (query.words.length === 0) return [];
      return takeVisible(db, { limit, filter, dialect: 'postgres' }, (count) =>
        rank(db, collectionId, { query, count }),
      );
    },
    forget: commonWords.forget,
  };
}

interface CountOptions {
  readonly words: readonly string[];
  readonly known: Map<string, number>;
}

async function countChunks(db: Kysely<Tables>, collectionId: string, { words, known }: CountOptions) {
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

interface RankOptions {
  readonly query: WeightedQuery;
  readonly count: number;
}

/** The operations are in the same order as for SQLite, so that both databases compute identical scores. */
async function rank(db: Kysely<Tables>, collectionId: string, { query, count }: RankOptions): Promise<RankedChunk[]> {
  const { base, perWord } = query;
  const words = query.words.map(({ word }) => word);
  const weights = query.words.map(({ weight }) => weight);
  const { rows } = await sql<{ seq: number; score: number }>`
    select id / ${lengthsOfId}::bigint as seq, sum(trunc(
        (weight * times) / (times + ${base}::float8 + ${perWord}::float8 * (id % ${lengthsOfId}::bigint))
      ))::float8 as score
    from unnest(${words}::text[], ${weights}::float8[]) as weighed (word, weight)
      join posting on posting.collection_id = ${collectionId} and posting.word = weighed.word
      cross join lateral unnest(posting.ids, posting.repeats) as entry (id, times)
    group by id order by score desc, id limit ${count}`.execute(db);
  return rows.map(({ seq, score }) => toMatch({ seq: Number(seq), score }));
}
