import { type Kysely, sql } from 'kysely';
import type {
  MissingPage,
  MissingVector,
  RecordVectors,
  VectorSetKey,
} from '../../../stores/search/vector-repository.ts';
import type { Tables } from '../../database/tables.ts';
import { asChunkVector, setId } from './vector-sets.ts';

/** Reads one page of the visible chunks without a vector, along the index of their ids. */
export function findMissing(
  read: Kysely<Tables>,
  { collectionId, slot }: VectorSetKey,
  { after, limit, now }: MissingPage,
): Promise<MissingVector[]> {
  return read
    .selectFrom('chunk')
    .innerJoin('collection_vector', (on) => on.on('collection_vector.id', '=', setId({ collectionId, slot })))
    .leftJoin(asChunkVector(slot), 'chunk_vector.seq', 'chunk.seq')
    .select((column) => [
      'chunk.seq',
      'chunk.id',
      'chunk.updated_at as updatedAt',
      column.fn.coalesce('chunk.question', 'chunk.content').as('text'),
      column.fn.coalesce('chunk_vector.failures', sql<number>`0`).as('failures'),
    ])
    .where('chunk.collection_id', '=', collectionId)
    .where('chunk.id', '>', after)
    .where((where) =>
      where.or([
        where('chunk_vector.seq', 'is', null),
        where('chunk_vector.change', '<=', where.ref('collection_vector.first_change')),
        where('chunk_vector.retry_at', '<=', now),
      ]),
    )
    .where((where) =>
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
    )
    .orderBy('chunk.id')
    .limit(limit)
    .execute();
}

export async function countOfRecords(
  read: Kysely<Tables>,
  { collectionId, slot, model }: VectorSetKey & { readonly model: string },
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, RecordVectors>> {
  if (recordIds.length === 0) return new Map();
  const rows = await read
    .selectFrom('record')
    .innerJoin('chunk', (on) =>
      on.onRef('chunk.record_id', '=', 'record.id').onRef('chunk.generation', '=', 'record.generation'),
    )
    .innerJoin('collection_vector', (on) => on.on('collection_vector.id', '=', setId({ collectionId, slot })))
    .innerJoin(asChunkVector(slot), 'chunk_vector.seq', 'chunk.seq')
    .select([
      'record.id',
      sql<number>`sum(case when chunk_vector.vector is null then 0 else 1 end)`.as('embedded'),
      sql<number>`sum(case when chunk_vector.vector is null and chunk_vector.retry_at is null then 1 else 0 end)`.as(
        'refused',
      ),
      sql<number>`sum(chunk_vector.tokens)`.as('tokens'),
      sql<string | null>`max(chunk_vector.reason)`.as('reason'),
    ])
    .where('record.id', 'in', recordIds)
    .where('record.collection_id', '=', collectionId)
    .where('collection_vector.model', '=', model)
    .whereRef('chunk_vector.change', '>', 'collection_vector.first_change')
    .groupBy('record.id')
    .execute();
  return new Map(
    rows.map(({ id, embedded, refused, tokens, reason }) => [
      id,
      { embedded: Number(embedded), refused: Number(refused), tokens: Number(tokens), reason },
    ]),
  );
}
