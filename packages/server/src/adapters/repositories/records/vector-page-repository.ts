import { type Kysely, sql, type Transaction } from 'kysely';
import type { VectorSpace } from '../../../search/embedding/vector-index.ts';
import { fromBytes } from '../../../search/embedding/vectors.ts';
import type {
  PageChange,
  VectorPageRepository,
  VectorRow,
} from '../../../search/vector-pages/vector-page-repository.ts';
import type { Database } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';
import { withoutIndex } from '../../database/without-index.ts';
import { asChunkVector, setId } from './vector-sets.ts';

/** The rows that one statement finds by their numbers. */
const seqsPerStatement = 1000;

/** Stores pages of vectors in either database. */
export function createVectorPageRepository({ dialect, read, write }: Database): VectorPageRepository {
  const readPart = async <Part extends 'scan' | 'refine'>(id: number, parts: readonly Part[]) =>
    read
      .selectFrom('vector_page')
      .select([...parts])
      .where('id', '=', id)
      .executeTakeFirst();
  return {
    list: ({ collectionId, firstChange }) =>
      read
        .selectFrom('vector_page')
        .select(['id', 'vectors as count'])
        .where('collection_id', '=', collectionId)
        .where('first_change', '=', firstChange)
        .orderBy('id')
        .execute(),
    read: (id) => readPart(id, ['scan', 'refine']),
    readScan: async (id) => (await readPart(id, ['scan']))?.scan,
    async rowsAfter(space, after, limit) {
      const rows = await read
        .selectFrom(asChunkVector(space.slot))
        .select(['seq', 'change', 'vector'])
        .where('collection_id', '=', space.collectionId)
        .where((where) => where(where.refTuple('change', 'seq'), '>', where.tuple(after.change, after.seq)))
        .where('change', '<=', space.lastChange)
        .orderBy('change')
        .orderBy('seq')
        .limit(limit)
        .execute();
      return rows.map(toRow);
    },
    async pagedRows(space, seqs) {
      const found: VectorRow[] = [];
      for (let from = 0; from < seqs.length; from += seqsPerStatement) {
        const rows = await read
          .selectFrom(asChunkVector(space.slot))
          .select(['seq', 'change', 'vector'])
          .where('seq', 'in', [...seqs.subarray(from, from + seqsPerStatement)])
          .where(withoutIndex<string>(dialect, 'collection_id'), '=', space.collectionId)
          .where(withoutIndex<number>(dialect, 'change'), '>', space.firstChange)
          .where(withoutIndex<number>(dialect, 'change'), '<=', space.pagedChange)
          .where('vector', 'is not', null)
          .execute();
        found.push(...rows.map(toRow));
      }
      return found;
    },
    async countPaged(space) {
      const { count } = await read
        .selectFrom(asChunkVector(space.slot))
        .select(sql<number>`count(*)`.as('count'))
        .where('collection_id', '=', space.collectionId)
        .where('change', '>', space.firstChange)
        .where('change', '<=', space.pagedChange)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async hasUnpaged(space, count) {
      const row = await read
        .selectFrom(asChunkVector(space.slot))
        .select('seq')
        .where('collection_id', '=', space.collectionId)
        .where('change', '>', space.pagedChange)
        .orderBy('change')
        .offset(count - 1)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    listSpaces: () => listSpaces(read),
    replace: (space, by) => write.transaction().execute((transaction) => replacePages(transaction, space, by)),
    removeOutdated: (limit) => removeOutdated(write, limit),
  };
}

/** Deletes at most `limit` pages of a collection. @returns how many it deleted */
export async function removePages(write: Kysely<Tables>, collectionId: string, limit: number): Promise<number> {
  const { numDeletedRows } = await write
    .deleteFrom('vector_page')
    .where('id', 'in', (select) =>
      select.selectFrom('vector_page').select('id').where('collection_id', '=', collectionId).limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

function toRow(row: { seq: number; change: number; vector: Uint8Array | null }): VectorRow {
  return { ...row, vector: row.vector && fromBytes(row.vector) };
}

async function listSpaces(read: Kysely<Tables>): Promise<VectorSpace[]> {
  const rows = await read
    .selectFrom('collection_vector')
    .innerJoin('collection', 'collection.id', 'collection_vector.collection_id')
    .select(['collection_id', 'slot', 'dimensions', 'first_change', 'last_change', 'paged_change', 'page_version'])
    .where('collection.status', '=', 'ready')
    .where('dimensions', '>', 0)
    .where((where) => where('last_change', '>', where.ref('first_change')))
    .execute();
  return rows.map((row) => ({
    ...{ collectionId: row.collection_id, slot: row.slot, dimensions: row.dimensions },
    ...{ firstChange: row.first_change, lastChange: row.last_change },
    ...{ pagedChange: row.paged_change, pageVersion: row.page_version },
  }));
}

/** @returns false when the pages or the model have changed meanwhile */
async function replacePages(
  transaction: Transaction<Tables>,
  { collectionId, slot, firstChange, pageVersion }: VectorSpace,
  { added, removed, pagedChange }: PageChange,
): Promise<boolean> {
  const updated = await transaction
    .updateTable('collection_vector')
    .set({ paged_change: pagedChange, page_version: pageVersion + 1 })
    .where('id', '=', setId({ collectionId, slot }))
    .where('first_change', '=', firstChange)
    .where('page_version', '=', pageVersion)
    .returning('collection_id')
    .executeTakeFirst();
  if (updated === undefined) return false;
  if (removed.length > 0) await transaction.deleteFrom('vector_page').where('id', 'in', removed).execute();
  for (const { count, scan, refine } of added) {
    await transaction
      .insertInto('vector_page')
      .values({ collection_id: collectionId, first_change: firstChange, vectors: count, scan, refine })
      .execute();
  }
  return true;
}

async function removeOutdated(write: Kysely<Tables>, limit: number): Promise<number> {
  const { rows } = await sql<object>`delete from vector_page where id in (
      select vector_page.id from vector_page
      left join collection_vector on collection_vector.collection_id = vector_page.collection_id
        and collection_vector.first_change = vector_page.first_change
      where collection_vector.id is null limit ${sql.lit(limit)})
    returning id`.execute(write);
  return rows.length;
}
