import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { toBytes } from '../../../stores/search/embedding/vectors.ts';
import type {
  NewVector,
  Saving,
  StoredVectorSpace,
  VectorRepository,
  VectorSetKey,
} from '../../../stores/search/vector-repository.ts';
import type { CollectionVectorTable } from '../../database/collection-tables.ts';
import type { Database } from '../../database/database.ts';
import { renewLease } from '../../database/lease.ts';
import type { Tables } from '../../database/tables.ts';
import { claimBackfill, endBackfill, listFailures, retryFailures } from './claim-backfill.ts';
import { lockCollection } from './lock-collection.ts';
import { compareVectors, countOfRecords, findCopies, findMissing, readVectorsAfter } from './missing-vectors.ts';
import {
  asChunkVector,
  changeCounts,
  countStored,
  countVectors,
  prepareSet,
  setId,
  slots,
  vectorTable,
  wantAll,
} from './vector-sets.ts';

/** Stores vectors in either database. The search index over them is not part of the database. */
export function createVectorRepository(database: Database): VectorRepository {
  const { dialect, read, write } = database;
  return {
    find: (collectionId) => findSpace(read, collectionId),
    adopt: async (collectionId, model) =>
      (await findSpace(read, collectionId)) ??
      write.transaction().execute(async (transaction) => {
        // Locks the collection. A chunk that becomes visible in the meantime is either counted here or finds the new row.
        if ((await lockCollection(transaction, collectionId)) === undefined) return undefined;
        const wanted = (await hasChunks(transaction, collectionId)) ? 1 : 0;
        await insertSpaces(transaction, { model, collectionId, wanted });
        return findSpace(transaction, collectionId);
      }),
    adoptAll: (model) => write.transaction().execute((transaction) => insertSpaces(transaction, { model, wanted: 1 })),
    async endLeases(model) {
      await write
        .updateTable('collection_vector')
        .set({ lease_until: 0 })
        .where('model', '=', model)
        .where('lease_owner', 'is not', null)
        .execute();
    },
    async requeueAll(model) {
      await write
        .updateTable('collection_vector')
        .set({ ...wantAll, run_after: 0 })
        .where('model', '=', model)
        .where('role', '<>', 'kept')
        .execute();
    },
    prepare: (collectionId, model, dimensions = null) => prepareSet(write, collectionId, { model, dimensions }),
    async replaceAll(former, model) {
      const others = read.selectFrom('collection_vector').select('collection_id').where('role', '=', 'next');
      const ofModel = read.selectFrom('collection_vector').select('collection_id').where('model', '=', model);
      const found = await read
        .selectFrom('collection_vector')
        .select('collection_id')
        .where('role', '=', 'live')
        .where('model', '=', former)
        .where('collection_id', 'not in', others.union(ofModel))
        .execute();
      for (const { collection_id } of found) await prepareSet(write, collection_id, { model, dimensions: null });
    },
    missing: (of, page) => findMissing(read, of, page),
    copies: (known) => findCopies(read, known),
    countOfRecords: (of, recordIds) => countOfRecords(read, of, recordIds),
    listFailures: (of, query) => listFailures(read, of, query),
    async retryFailures(collectionId, now) {
      for (const slot of slots) await retryFailures(write, { collectionId, slot }, now);
    },
    readAfter: (space, after) => readVectorsAfter(read, space, after),
    save: (to, model, vectors, tokens = 0) =>
      write
        .transaction()
        .execute((transaction) => saveVectors(transaction, { ...to, dialect, model, tokens }, vectors)),
    compare: (comparison) => compareVectors(database, comparison),
    async requeueFailed({ model, now }) {
      for (const slot of slots) {
        const failed = write.selectFrom(asChunkVector(slot)).select('collection_id').where('retry_at', '<=', now);
        await write
          .updateTable('collection_vector')
          .set({ ...wantAll, run_after: 0 })
          .where('model', '=', model)
          .where('slot', '=', slot)
          .where('role', '<>', 'kept')
          .where('collection_id', 'in', failed)
          .whereRef('wanted', '=', 'done')
          .execute();
      }
    },
    async countBacklog(model) {
      const row = await read
        .selectFrom('collection_vector')
        .select(sql<number>`count(*)`.as('collections'))
        .where('model', '=', model)
        .whereRef('wanted', '>', 'done')
        .executeTakeFirstOrThrow();
      return Number(row.collections);
    },
    async countCollections(model) {
      const row = await read
        .selectFrom('collection_vector')
        .select([
          sql<number>`count(*)`.as('every'),
          sql<number>`count(case when wanted > done then 1 end)`.as('waiting'),
        ])
        .where('model', '=', model)
        .where('role', '!=', 'kept')
        .executeTakeFirstOrThrow();
      return { all: Number(row.every), waiting: Number(row.waiting) };
    },
    claimBackfill: (claim) => claimBackfill(database, claim),
    renewBackfill: (held, leaseUntil) =>
      renewLease(database, { table: 'collection_vector', key: 'id' }, held, { lease_until: leaseUntil }),
    endBackfill: (held, end) => endBackfill(write, held, end),
  };
}

/**
 * Notes that chunks of a collection have no vectors, in the transaction that causes it. Does nothing for a collection
 * without a model. `firstId` is the lowest id of these chunks.
 */
export async function wantVectors(
  transaction: Transaction<Tables>,
  collectionId: string,
  firstId: string,
): Promise<void> {
  // Ids have the same length, so this sorts before the id itself.
  const before = firstId.slice(0, -1);
  // In the order of the slots, as `lockSets` does.
  for (const slot of slots) {
    await transaction
      .updateTable('collection_vector')
      .set({
        wanted: sql<number>`wanted + 1`,
        restart: sql<string>`case when restart is null or restart > ${before} then ${before} else restart end`,
        // A collection that waits keeps its place.
        run_after: sql<number>`case when wanted = done then 0 else run_after end`,
      })
      .where('collection_id', '=', collectionId)
      .where('slot', '=', slot)
      .where('role', '<>', 'kept')
      .execute();
  }
}

/** Inserts the vector state of one collection or of all. Collections that have a model keep it. */
async function insertSpaces(
  transaction: Transaction<Tables>,
  { model, collectionId, wanted }: { model: string; collectionId?: string; wanted: 0 | 1 },
): Promise<void> {
  const only = collectionId === undefined ? sql`` : sql`and id = ${collectionId}`;
  // A chunk that is added before the first walk must not move its beginning behind the chunks that exist.
  const restart = wanted === 1 ? '' : null;
  await sql`insert into collection_vector
      (id, collection_id, slot, role, project_id, model, dimensions, first_change, last_change, wanted, restart, done, attempt, run_after)
    select id, id, 0, 'live', project_id, ${model}, 0, 0, 0, ${sql.lit(wanted)}, ${sql.lit(restart)}, 0, 0, 0
    from collection where status = 'ready' ${only}
    on conflict (id) do nothing`.execute(transaction);
}

/** Returns whether the collection has visible chunks. */
async function hasChunks(transaction: Transaction<Tables>, collectionId: string): Promise<boolean> {
  const ofRecord = await transaction
    .selectFrom('record')
    .select('id')
    .where('collection_id', '=', collectionId)
    .where('num_chunks', '>', 0)
    .limit(1)
    .executeTakeFirst();
  const direct = await transaction
    .selectFrom('chunk')
    .select('seq')
    .where('collection_id', '=', collectionId)
    .where('record_id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return ofRecord !== undefined || direct !== undefined;
}

async function findSpace(db: Kysely<Tables>, collectionId: string): Promise<StoredVectorSpace | undefined> {
  const row = await db
    .selectFrom('collection_vector')
    .selectAll()
    .where('collection_id', '=', collectionId)
    .where('role', '=', 'live')
    .executeTakeFirst();
  return row && toSpace(row);
}

export function toSpace(row: Selectable<CollectionVectorTable>): StoredVectorSpace {
  return {
    collectionId: row.collection_id,
    slot: row.slot,
    role: row.role,
    model: row.model,
    dimensions: row.dimensions,
    firstChange: row.first_change,
    lastChange: row.last_change,
    count: row.num_embedded,
    needsBackfill: row.wanted > row.done,
  };
}

interface SaveTo extends VectorSetKey {
  readonly dialect: Database['dialect'];
  readonly model: string;
  readonly tokens: number;
}

async function saveVectors(
  transaction: Transaction<Tables>,
  { dialect, collectionId, slot, model, tokens }: SaveTo,
  vectors: readonly NewVector[],
): Promise<Saving> {
  const dimensions =
    vectors.map(({ embedded }) => (embedded instanceof Float32Array ? embedded.length : 0)).find(Boolean) ?? 0;
  // This statement comes first because it locks the row. The changes of a collection are then committed in order, so
  // that readers of changes miss none.
  const space = await transaction
    .updateTable('collection_vector')
    .set((column) => ({
      last_change: column('last_change', '+', 1),
      num_tokens: column('num_tokens', '+', tokens),
      dimensions: column.case().when('dimensions', '=', 0).then(dimensions).else(column.ref('dimensions')).end(),
    }))
    .where('id', '=', setId({ collectionId, slot }))
    .where('model', '=', model)
    .returning(['first_change', 'last_change', 'dimensions'])
    .executeTakeFirst();
  if (space === undefined) return { kind: 'other_model' };
  if (dimensions !== 0 && dimensions !== space.dimensions) {
    return { kind: 'other_dimensions', given: dimensions, stored: space.dimensions };
  }
  if (vectors.length === 0) return { kind: 'saved' };
  const seqs = vectors.map(({ seq }) => seq);
  const there = transaction.selectFrom('chunk').select(['seq', 'updated_at']).where('seq', 'in', seqs);
  // The lock keeps each chunk until its vector is written.
  const chunks = await (dialect === 'postgres' ? there.forKeyShare() : there).execute();
  const updated = new Map(chunks.map((chunk) => [chunk.seq, chunk.updated_at]));
  const rows = vectors
    .filter(({ seq, updatedAt }) => updated.get(seq) === updatedAt)
    .map((vector) => ({ collection_id: collectionId, change: space.last_change, ...storedForm(vector) }));
  if (rows.length === 0) return { kind: 'saved' };
  const stored = rows.map(({ seq }) => seq);
  const before = await countStored(transaction, stored, { slot, firstChange: space.first_change });
  await transaction
    .insertInto(vectorTable(slot))
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('seq').doUpdateSet((set) => ({
        change: set.ref('excluded.change'),
        vector: set.ref('excluded.vector'),
        reason: set.ref('excluded.reason'),
        retry_at: set.ref('excluded.retry_at'),
        failures: set.ref('excluded.failures'),
        tokens: set.ref('excluded.tokens'),
        text_key: set.ref('excluded.text_key'),
      })),
    )
    .execute();
  const after = countVectors(rows.map(({ vector, retry_at }) => ({ hasVector: vector !== null, retryAt: retry_at })));
  const change = { embedded: after.embedded - before.embedded, refused: after.refused - before.refused };
  await changeCounts(transaction, { collectionId, slot }, change);
  return { kind: 'saved' };
}

function storedForm({ seq, embedded, tokens = 0, textKey }: NewVector) {
  const text_key = textKey ?? null;
  if (embedded instanceof Float32Array) {
    return {
      seq,
      vector: toBytes(embedded),
      reason: null,
      retry_at: null,
      failures: 0,
      tokens,
      text_key,
    };
  }
  const { reason, retryAt, failures } = embedded;
  return { seq, vector: null, reason, retry_at: retryAt, failures, tokens, text_key: null };
}
