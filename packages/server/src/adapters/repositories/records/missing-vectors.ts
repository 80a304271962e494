import { type Kysely, sql } from 'kysely';
import type { MissingOf, MissingPage, MissingVector } from '../../../search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { withoutIndex } from '../../full-text/without-index.ts';

/** Reads one page of the chunks without a vector. */
export function findMissing(
  read: Kysely<Tables>,
  of: MissingOf,
  { after, limit, now }: MissingPage,
): Promise<MissingVector[]> {
  const rows = missingOf(read, of, now).select((column) => [
    'chunk.seq',
    'chunk.id',
    'chunk.ordinal',
    'chunk.updated_at as updatedAt',
    column.fn.coalesce('chunk.question', 'chunk.content').as('text'),
    column.fn.coalesce('chunk_vector.failures', sql<number>`0`).as('failures'),
  ]);
  // Follows the order of an index, so that each page continues where the previous one ended.
  const column = of.record === undefined ? 'chunk.id' : 'chunk.ordinal';
  const last = of.record === undefined ? after?.id : after?.ordinal;
  return (last === undefined ? rows : rows.where(column, '>', last)).orderBy(column).limit(limit).execute();
}

export async function countMissing(read: Kysely<Tables>, of: MissingOf): Promise<number> {
  const row = await missingOf(read, of, Number.MAX_SAFE_INTEGER)
    .select(sql<number>`count(*)`.as('missing'))
    .executeTakeFirstOrThrow();
  return Number(row.missing);
}

/** Counts the chunks of the record that have no vector because the model refuses their text. */
export async function countRefused(
  { dialect, read }: Pick<Database, 'dialect' | 'read'>,
  { collectionId, record }: Required<MissingOf>,
): Promise<number> {
  const row = await read
    .selectFrom('chunk_vector')
    .innerJoin('collection_vector', 'collection_vector.collection_id', 'chunk_vector.collection_id')
    .innerJoin('chunk', 'chunk.seq', 'chunk_vector.seq')
    .select(sql<number>`count(*)`.as('refused'))
    .where('chunk_vector.collection_id', '=', collectionId)
    .where('chunk_vector.code', 'is', null)
    .where('chunk_vector.retry_at', 'is', null)
    .whereRef('chunk_vector.change', '>', 'collection_vector.first_change')
    // Refused chunks are few, whereas a record may have many chunks.
    .where(withoutIndex<string>(dialect, 'chunk.record_id'), '=', record.id)
    .where(withoutIndex<number>(dialect, 'chunk.generation'), '=', record.generation)
    .executeTakeFirstOrThrow();
  return Number(row.refused);
}

/** @param now failed texts whose next attempt is later are left out */
function missingOf(read: Kysely<Tables>, { collectionId, record }: MissingOf, now: number) {
  const rows = read
    .selectFrom('chunk')
    .innerJoin('collection_vector', 'collection_vector.collection_id', 'chunk.collection_id')
    .leftJoin('chunk_vector', 'chunk_vector.seq', 'chunk.seq')
    .where('chunk.collection_id', '=', collectionId)
    .where((where) =>
      where.or([
        where('chunk_vector.seq', 'is', null),
        where('chunk_vector.change', '<=', where.ref('collection_vector.first_change')),
        where('chunk_vector.retry_at', '<=', now),
      ]),
    );
  if (record !== undefined) {
    return rows.where('chunk.record_id', '=', record.id).where('chunk.generation', '=', record.generation);
  }
  return rows.where((where) =>
    where.or([
      where('chunk.record_id', 'is', null),
      where.exists(
        where
          .selectFrom('record')
          .select('record.id')
          .whereRef('record.id', '=', 'chunk.record_id')
          .whereRef('record.generation', '=', 'chunk.generation')
          .where('record.status', '<>', 'deleting'),
      ),
    ]),
  );
}
