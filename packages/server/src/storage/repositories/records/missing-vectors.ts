import { type Kysely, sql } from 'kysely';
import type { VectorSpace } from '../../../stores/search/embedding/vector-index.ts';
import { fromBytes, viewBytes } from '../../../stores/search/embedding/vectors.ts';
import {
  type ComparedChunks,
  compareCandidates,
  type ReadVector,
} from '../../../stores/search/query/compare-candidates.ts';
import type { VectorBatch } from '../../../stores/search/vector-codes/open-vector-thread.ts';
import type {
  KnownTexts,
  MissingPage,
  MissingVector,
  RecordVectors,
  VectorComparison,
  VectorSetKey,
  VectorSlot,
} from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { metadataFilter } from '../../database/metadata-filter.ts';
import type { Tables } from '../../database/tables.ts';
import { visibleRows } from '../../database/visible-chunks.ts';
import { unpackNear } from '../../search-index/compare-vectors.ts';
import { askIndex } from '../../search-index/search-thread.ts';
import type { ThreadValue } from '../../search-index/thread-statements.ts';
import { asChunkVector, setId, slots, vectorTable } from './vector-sets.ts';

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

/** The vectors of a text that are looked at. Those of sets that are not in use do not count. */
const looksAt = 8;

/** The row of a set is `setId`. */
const idOfSet = (slot: VectorSlot) => (slot === 0 ? sql`found.collection_id` : sql`found.collection_id || '.1'`);

/** Finds one vector of each text, along the index of the keys. The key contains the model. */
export async function findCopies(
  read: Kysely<Tables>,
  { projectId, texts }: KnownTexts,
): Promise<Map<string, Float32Array>> {
  if (texts.size === 0) return new Map();
  const keys = [...texts.keys()].map((key) => sql`(cast(${key} as bigint))`);
  const ofSlot = (slot: VectorSlot) => sql`
    select wanted.text_key, source.vector, coalesce(chunk.question, chunk.content) as text
    from wanted
    join ${sql.table(vectorTable(slot))} source on source.seq = (
      select found.seq from (
        select seq, collection_id, change from ${sql.table(vectorTable(slot))} same
        where same.text_key = wanted.text_key limit ${sql.lit(looksAt)}
      ) found
      join collection_vector on collection_vector.id = ${idOfSet(slot)}
      where collection_vector.role <> 'kept' and found.change > collection_vector.first_change
      limit 1
    )
    join chunk on chunk.seq = source.seq and chunk.project_id = ${projectId}
    where source.vector is not null`;
  const { rows } = await sql<{ text_key: number; vector: Uint8Array; text: string }>`
    with wanted (text_key) as (values ${sql.join(keys)})
    ${sql.join(slots.map(ofSlot), sql` union all `)}`.execute(read);
  // Texts with the same key may differ.
  return new Map(
    rows.flatMap(({ text_key, vector, text }) =>
      texts.get(Number(text_key)) === text ? [[text, fromBytes(vector)] as const] : [],
    ),
  );
}

/** Bytes of vectors that one statement reads, which takes a few milliseconds of the event loop. */
const bytesAtOnce = 2 ** 20;

/** Reads the vectors of later changes up to the last one of the space, in the order of changes and seqs. */
export async function* readVectorsAfter(
  read: Kysely<Tables>,
  { collectionId, slot, dimensions, lastChange }: VectorSpace,
  after: number,
): AsyncGenerator<VectorBatch> {
  const limit = Math.ceil(bytesAtOnce / (dimensions * 4));
  for (let last = { change: after, seq: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = await read
      .selectFrom(asChunkVector(slot))
      .select(['seq', 'change', 'vector'])
      .where('collection_id', '=', collectionId)
      .where((where) => where(where.refTuple('change', 'seq'), '>', where.tuple(last.change, last.seq)))
      .where('change', '<=', lastChange)
      .orderBy('change')
      .orderBy('seq')
      .limit(limit)
      .execute();
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
    // A text without a vector has null.
    const found = rows.flatMap(({ seq, vector }) => (vector?.length === dimensions * 4 ? [{ seq, vector }] : []));
    const vectors = new Float32Array(found.length * dimensions);
    for (const [place, { vector }] of found.entries()) vectors.set(viewBytes(vector), place * dimensions);
    if (found.length > 0) yield { seqs: Float64Array.from(found, ({ seq }) => seq), vectors };
  }
}

/** The maximum number of candidates in one message. More would delay the other questions of the thread for too long. */
const mostInMessage = 4_096;

/** Compares stored vectors with a query, by one message to a thread of SQLite or by one statement for each part. */
export async function compareVectors(database: Database, comparison: VectorComparison): Promise<ComparedChunks> {
  if (database.dialect === 'sqlite' && comparison.near.seqs.length <= mostInMessage) {
    return await compareInMessage(database, comparison);
  }
  const parts = compareCandidates(comparison);
  let step = parts.next();
  while (step.done !== true) step = parts.next(await readVisible(database, comparison, step.value));
  return step.value;
}

async function compareInMessage(
  { read }: Database,
  { space, filter, ...candidates }: VectorComparison,
): Promise<ComparedChunks> {
  const condition = filter === undefined ? null : metadataFilter('sqlite', filter).compile(read);
  const { nearest, isComplete, others } = await askIndex(read, 'compareVectors', {
    ...candidates,
    table: vectorTable(space.slot),
    collectionId: space.collectionId,
    firstChange: space.firstChange,
    // Kysely types parameters as unknown; those of a filter are strings, numbers and texts of booleans.
    condition: condition && { sql: condition.sql, parameters: condition.parameters as ThreadValue[] },
  });
  return { nearest: unpackNear(nearest), isComplete, others: unpackNear(others) };
}

/** Reads the vectors of the chunks that the question may find. */
async function readVisible(
  { dialect, read }: Database,
  { space, filter }: VectorComparison,
  seqs: readonly number[],
): Promise<ReadVector[]> {
  const rows = await visibleRows(read, seqs, { dialect, filter })
    .innerJoin(asChunkVector(space.slot), 'chunk_vector.seq', 'chunk.seq')
    .select(['chunk_vector.seq', 'chunk_vector.vector'])
    .where('chunk_vector.collection_id', '=', space.collectionId)
    .where('chunk_vector.change', '>', space.firstChange)
    .execute();
  return rows.flatMap(({ seq, vector }): ReadVector[] => (vector === null ? [] : [[seq, viewBytes(vector)]]));
}
