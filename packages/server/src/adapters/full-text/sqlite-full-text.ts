import { type Kysely, sql } from 'kysely';
import { frequencySeparator } from '../../search/analysis/tokenizer.ts';
import type { DatabaseSearchIndex } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { runMany } from '../sqlite/sqlite-insert-many.ts';
import { normaliseWords, toMatch, type WeightedQuery, type WeightedWord, weigh } from './bm25.ts';
import { type CommonWords, createCommonWords } from './common-words.ts';
import { countIn, findStatistics, noStatistics } from './full-text-statistics.ts';
import { type FullTextPlace, findPlace, findPlaceAndStatistics, getPlace } from './sqlite-full-text-place.ts';
import { encodeWord, insertTermsInto, lengthsOfRow, toIndexRow } from './sqlite-terms.ts';
import { takeVisible, type VisibleQuery } from './visible-chunks.ts';

/*
 * FTS5's own bm25() uses another idf and is slow, because it looks up each chunk's length. Each index row therefore
 * contains all inputs of the score. Its row id is seq · 65536 + length. A word that occurs t times is indexed once, as
 * the term tag⟨U+0082⟩word⟨U+0081⟩t. The tag identifies the collection: collections share indexes but no terms (ADR
 * 0051). Reading the row ids of a term is the fastest operation of FTS5, and plain SQL computes the formula.
 */
/** A literal, because node:sqlite binds a number as REAL, and dividing a row id by a REAL gives no integer. */
const lengths = sql.lit(lengthsOfRow);
const afterRepeatMark = '\u0082';

export function createSqliteFullText(): Omit<DatabaseSearchIndex, 'check' | 'rebuild' | 'reindex'> {
  const commonWords = createCommonWords();
  return {
    async create(db, collectionId) {
      await db.insertInto('full_text').values({ collection_id: collectionId, chunks: 0, words: 0 }).execute();
      await db.insertInto('full_text_place').values({ collection_id: collectionId, cleared_to: null }).execute();
    },
    async drop(db, collectionId, limit) {
      commonWords.forget(collectionId);
      return dropSome(db, collectionId, limit);
    },
    async add(db, collectionId, chunks) {
      const place = await getPlace(db, collectionId);
      const rows = chunks.map((chunk) => toIndexRow(chunk, place.tag));
      await runMany(
        db,
        insertTermsInto(place.table),
        rows.map(({ values }) => values),
      );
      await countIn(db, collectionId, {
        chunks: rows.length,
        words: rows.reduce((sum, { length }) => sum + length, 0),
      });
    },
    remove: removeChunks,
    statistics: async (db, collectionId) => (await findStatistics(db, collectionId)) ?? noStatistics,
    async ask(db, { collectionId, words, limit, filter }) {
      const distinct = [...new Set(normaliseWords(words))];
      if (distinct.length === 0) return [];
      const search = { distinct, commonWords, take: { limit, filter, dialect: 'sqlite' } } as const;
      // One transaction prevents a drop of the index between the statements.
      if (db.isTransaction) return searchWords(db, collectionId, search);
      return db.transaction().execute((trx) => searchWords(trx, collectionId, search));
    },
  };
}

async function removeChunks(db: Kysely<Tables>, collectionId: string, seqs: readonly number[]): Promise<void> {
  const rowIds = await removeRows(db, await getPlace(db, collectionId), seqs);
  const words = rowIds.reduce((sum, rowId) => sum + (rowId % lengthsOfRow), 0);
  await countIn(db, collectionId, { chunks: -rowIds.length, words: -words });
}

/**
 * Removes the index rows of chunks.
 * @returns the ids of the rows that existed
 */
async function removeRows(db: Kysely<Tables>, { index }: FullTextPlace, seqs: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ rowid: number }>`
    select indexed.rowid from json_each(${JSON.stringify(seqs)}) as wanted
    cross join ${index} as indexed on indexed.rowid >= wanted.value * ${lengths} and indexed.rowid < (wanted.value + 1) * ${lengths}`.execute(
    db,
  );
  const rowIds = rows.map((row) => row.rowid);
  await sql`delete from ${index} where rowid in (select value from json_each(${JSON.stringify(rowIds)}))`.execute(db);
  return rowIds;
}

/**
 * Removes the statistics first, so that no search finds the collection. Its chunks then leave the index in the order of
 * their ids.
 */
async function dropSome(db: Kysely<Tables>, collectionId: string, limit: number): Promise<boolean> {
  await db.deleteFrom('full_text').where('collection_id', '=', collectionId).execute();
  const place = await findPlace(db, collectionId);
  if (place === undefined) return true;
  const { cleared_to } = await db
    .selectFrom('full_text_place')
    .select('cleared_to')
    .where('collection_id', '=', collectionId)
    .executeTakeFirstOrThrow();
  const chunks = await db
    .selectFrom('chunk')
    .select(['seq', 'id'])
    .where('collection_id', '=', collectionId)
    .where('id', '>', cleared_to ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
  const last = chunks.at(-1);
  if (last === undefined) {
    await db.deleteFrom('full_text_place').where('collection_id', '=', collectionId).execute();
    return true;
  }
  const seqs = chunks.map(({ seq }) => seq);
  await removeRows(db, place, seqs);
  await db
    .updateTable('full_text_place')
    .set({ cleared_to: last.id })
    .where('collection_id', '=', collectionId)
    .execute();
  return false;
}

interface Search {
  readonly distinct: readonly string[];
  readonly commonWords: CommonWords;
  readonly take: VisibleQuery;
}
interface Term {
  readonly word: string;
  readonly term: string;
  readonly chunks: number;
}

async function searchWords(db: Kysely<Tables>, collectionId: string, { distinct, commonWords, take }: Search) {
  const index = await findPlaceAndStatistics(db, collectionId);
  if (index === undefined) return [];
  const { place, statistics } = index;
  const common = commonWords.of(collectionId, statistics);
  const unknown = distinct.filter((word) => !common.has(word));
  const found = new Map<string, number>();
  for (const word of distinct) {
    const chunks = common.get(word);
    if (chunks !== undefined) found.set(word, chunks);
  }
  const terms = await findTerms(db, place, unknown);
  for (const { word, chunks } of terms) found.set(word, (found.get(word) ?? 0) + chunks);
  const query = weigh(distinct, found, statistics);
  if (query.words.length === 0) return [];
  const used = new Set(query.words.map(({ word }) => word));
  for (const [word, chunks] of found) if (!used.has(word)) common.set(word, chunks);
  // If all words of a query are common, they are matched anyway.
  const requested = new Set(unknown);
  const others = distinct.filter((word) => used.has(word) && !requested.has(word));
  const all = others.length === 0 ? terms : [...terms, ...(await findTerms(db, place, others))];
  return takeVisible(db, take, (count) => rank(db, place, { query, terms: all, count }));
}

/* CROSS JOIN makes SQLite iterate over the list first and look up each of its values. */

/** Finds the terms of each word, one per number of repeats, with the number of chunks that contain it. */
async function findTerms(db: Kysely<Tables>, place: FullTextPlace, words: readonly string[]): Promise<Term[]> {
  const { terms, tag } = place;
  const requested = JSON.stringify(words.map((word) => tag + encodeWord(word)));
  const { rows } = await sql<{ place: number; term: string; chunks: number }>`
    select asked.key as place, found.term, found.doc as chunks from json_each(${requested}) as asked
    cross join ${terms} as found on found.term >= asked.value || ${frequencySeparator} and found.term < asked.value || ${afterRepeatMark}`.execute(
    db,
  );
  // `place` is an index into `words`.
  return rows.map(({ place, term, chunks }) => ({ word: words[place] as string, term, chunks }));
}

interface RankOptions {
  readonly query: WeightedQuery;
  readonly terms: readonly Term[];
  readonly count: number;
}

async function rank(db: Kysely<Tables>, { index }: FullTextPlace, { query, terms, count }: RankOptions) {
  const weights = new Map(query.words.map(({ word, weight }: WeightedWord) => [word, weight]));
  const requested = terms
    .filter(({ word }) => weights.has(word))
    .map(({ word, term }) => {
      const repeats = Number(term.slice(term.indexOf(frequencySeparator) + 1));
      return [`"${term}"`, (weights.get(word) ?? 0) * repeats, repeats + query.base];
    });
  const { rows } = await sql<{ seq: number; score: number }>`
    with asked as materialized (
      select value ->> 0 as term, value ->> 1 as above, value ->> 2 as below from json_each(${JSON.stringify(requested)})
    ), ranked as (
      select indexed.rowid as id,
        sum(cast(above / (below + ${query.perWord} * (indexed.rowid % ${lengths})) as integer)) as score
      from asked cross join ${index} as indexed on indexed.${index} match asked.term
      group by indexed.rowid order by score desc, id limit ${count}
    )
    select id / ${lengths} as seq, score from ranked order by score desc, id`.execute(db);
  return rows.map(toMatch);
}
