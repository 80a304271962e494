import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Statistics } from './bm25.ts';
import type { Tables } from './tables.ts';

/** Collections share so many indexes: an index of its own each is dear from some thousand on (ADR 0051). */
const shards = 16;
/** Ends the part of a term that says whose it is; `encodeWord` leaves none in a word. */
const endOfTag = '\u0082';

/** Where a collection's words are. */
export interface FullTextPlace {
  readonly table: string;
  readonly index: RawBuilder<unknown>;
  readonly terms: RawBuilder<unknown>;
  /** Before each of its terms. */
  readonly tag: string;
}

function toPlace(number: number): FullTextPlace {
  const shard = number % shards;
  const table = `full_text_index_${shard}`;
  return {
    table,
    index: sql.id(table),
    terms: sql.id(`full_text_terms_${shard}`),
    tag: number.toString(36) + endOfTag,
  };
}

export async function findPlace(db: Kysely<Tables>, collectionId: string): Promise<FullTextPlace | undefined> {
  const row = await db
    .selectFrom('full_text_place')
    .select('number')
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
  return row === undefined ? undefined : toPlace(row.number);
}

export async function findPlaceAndStatistics(
  db: Kysely<Tables>,
  collectionId: string,
): Promise<{ place: FullTextPlace; statistics: Statistics } | undefined> {
  const row = await db
    .selectFrom('full_text')
    .innerJoin('full_text_place', 'full_text_place.collection_id', 'full_text.collection_id')
    .select(['number', 'chunks', 'words'])
    .where('full_text.collection_id', '=', collectionId)
    .executeTakeFirst();
  return row === undefined ? undefined : { place: toPlace(row.number), statistics: row };
}
