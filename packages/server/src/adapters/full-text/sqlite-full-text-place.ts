import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Statistics } from '../../search/search-index.ts';
import type { Tables } from '../database/tables.ts';
import { toTables } from './sqlite-terms.ts';

/** The location of a collection's words in the shared indexes. */
export interface FullTextPlace {
  readonly table: string;
  readonly index: RawBuilder<unknown>;
  readonly terms: RawBuilder<unknown>;
  /** The prefix of each of the collection's terms. */
  readonly tag: string;
}

function toPlace(number: number): FullTextPlace {
  const { table, termsTable, tag } = toTables(number);
  return { table, index: sql.id(table), terms: sql.id(termsTable), tag };
}

export async function findPlace(db: Kysely<Tables>, collectionId: string): Promise<FullTextPlace | undefined> {
  const row = await db
    .selectFrom('full_text_place')
    .select('number')
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
  return row === undefined ? undefined : toPlace(row.number);
}

/**
 * Returns the place of a collection.
 * @throws when it has none
 */
export async function getPlace(db: Kysely<Tables>, collectionId: string): Promise<FullTextPlace> {
  const place = await findPlace(db, collectionId);
  if (place === undefined) throw new Error(`the collection ${collectionId} has no full-text index`);
  return place;
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
