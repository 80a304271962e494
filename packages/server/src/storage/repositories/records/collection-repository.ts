import type { Chunking, CollectionListQuery, CollectionType, RetrievalDefaults } from '@quartermaster/contract';
import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type UpdateObject } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type {
  CollectionChange,
  CollectionRepository,
  CountedCollection,
  StoredCollection,
  VectorsOfCollection,
} from '../../../stores/collections/collection-repository.ts';
import type { CollectionTable, CollectionVectorTable } from '../../database/collection-tables.ts';
import { bytesOfCollection, countBytes } from '../../database/counted-bytes.ts';
import type { Database } from '../../database/database.ts';
import { isOwned, type KeysetWindow, readKeysetPage, readWeighedPage, rowWeight } from '../../database/keyset-page.ts';
import { containsText } from '../../database/like-pattern.ts';
import { areAtLeast, countRows, lockProject } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';
import { growWithin, type InProject } from '../project-usage.ts';
import { sweepCollection } from './lock-collection.ts';

/**
 * Stores collections in either database.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createCollectionRepository(database: Database, quota: number | null = null): CollectionRepository {
  const { read, write, dialect } = database;

  async function list(projectId: string, query: CollectionListQuery, only: ReadonlySet<string> | null = null) {
    const owned = { dialect, by: { project_id: projectId } };
    let wanted = read.selectFrom('collection');
    if (only !== null) wanted = wanted.where('id', 'in', [...only]);
    const ofProject = wanted.where(isOwned(owned));
    const filters = [sql<boolean>`collection.status = 'ready'`];
    if (query.name !== undefined) filters.push(containsText(sql`collection.name`, query.name, dialect));
    let rows = wanted;
    for (const filter of filters) rows = rows.where(filter);
    const collections = {
      table: 'collection',
      columns: ['id'],
      weight: rowWeight({ json: ['metadata'] }),
      owned,
    } as const;
    const readPage = (window: KeysetWindow) =>
      readWeighedPage<{ id: string }, 'collection'>(database, rows, { ...collections, window });
    const page = await readKeysetPage(query, readPage, () => countRows(read, ofProject.orderBy('id', 'desc'), filters));
    const ids = page.items.map(({ id }) => id);
    const counted = new Map((await readCounted(read, { projectId, ids })).map((each) => [each.id, each]));
    // One that was deleted since is left out.
    return { ...page, items: ids.flatMap((id) => counted.get(id) ?? []) };
  }

  return {
    add: (collection, most) =>
      write.transaction().execute(async (transaction) => {
        const { projectId } = collection;
        await lockProject(transaction, dialect, projectId);
        const ofProject = transaction.selectFrom('collection').select('id').where('project_id', '=', projectId);
        if (await areAtLeast(ofProject.orderBy('id'), most)) return false;
        const row = toRow(collection);
        await transaction.insertInto('collection').values(row).execute();
        const grown = { what: 'collection', bytes: countBytes('collection', [row]) } as const;
        await growWithin(transaction, { projectId, quota }, grown);
        return true;
      }),
    async find(projectId, collectionId) {
      return (await readCounted(read, { projectId, ids: [collectionId] }))[0];
    },
    async findUncounted(projectId, collectionId) {
      const rows = readyCollections(read, { projectId, ids: [collectionId] });
      const row = await rows.selectAll('collection').executeTakeFirst();
      return row && toCollection(row);
    },
    findRetrieval: (collectionId) => findRetrieval(read, collectionId),
    meanTokens: (collectionId) => findMeanTokens(read, collectionId),
    list,
    change: (projectId, id, change) =>
      write.transaction().execute((transaction) => changeCollection(transaction, { projectId, id, quota }, change)),
    async markDeleting(projectId, collectionId) {
      const result = await write
        .updateTable('collection')
        .set({ status: 'deleting' })
        .where('id', '=', collectionId)
        .where('project_id', '=', projectId)
        .where('status', '=', 'ready')
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },
    async findDeleting(except = []) {
      const row = await read
        .selectFrom('collection')
        .select('id')
        .where('status', '=', 'deleting')
        // Its deletion sweeps the collections of a project.
        .where('project_id', 'not in', (deleted) => deleted.selectFrom('project_deletion').select('project_id'))
        .$if(except.length > 0, (rows) => rows.where('id', 'not in', except))
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      return row?.id;
    },
    sweep: (collectionId, limit, signal) => sweepCollection(database, { collectionId, limit }, signal),
  };
}

/** @returns false when there is no such collection */
async function changeCollection(
  transaction: Transaction<Tables>,
  { projectId, id, quota }: InProject & { readonly id: string },
  change: CollectionChange,
): Promise<boolean> {
  const update = (set: UpdateObject<Tables, 'collection'>) =>
    transaction
      .updateTable('collection')
      .set(set)
      .where('id', '=', id)
      .where('project_id', '=', projectId)
      .where('status', '=', 'ready')
      .returning(bytesOfCollection.as('bytes'))
      .executeTakeFirst();
  // An update that changes nothing locks the row.
  const before = await update({ capacity: sql<number>`capacity` });
  const after = before && (await update(columnsOf(change)));
  if (after === undefined) return false;
  const bytes = Number(after.bytes) - Number(before?.bytes);
  await growWithin(transaction, { projectId, quota }, { what: 'collection', bytes });
  return true;
}

interface Wanted {
  readonly projectId: string;
  readonly ids: readonly string[];
}

function readyCollections(read: Kysely<Tables>, { projectId, ids }: Wanted) {
  const rows = read.selectFrom('collection').where('collection.id', 'in', ids);
  return rows.where('collection.project_id', '=', projectId).where('collection.status', '=', 'ready');
}

/**
 * Reads collections with their counts and vectors in one statement, whatever their number. Deleted records are not
 * counted, because their chunks are no longer visible.
 */
async function readCounted(read: Kysely<Tables>, { projectId, ids }: Wanted): Promise<CountedCollection[]> {
  if (ids.length === 0) return [];
  // One query per collection counts the direct chunks, because for several SQLite would scan those of all projects.
  const { rows } = await sql<CountedRow>`
    select collection.*, of_records.records, of_records.chunks, of_records.pending, of_records.kept, ${vectorColumns},
      (select count(*) from chunk where chunk.collection_id = collection.id and chunk.record_id is null) as direct
    from collection
    left join (
      select record.collection_id, count(*) as records, sum(num_chunks) as chunks,
        sum(case when record.chunking_version < its.chunking_version then 1 else 0 end) as pending,
        sum(case when chunking_kept is null then 0 else 1 end) as kept
      from record inner join collection as its on its.id = record.collection_id
      where record.collection_id in (${sql.join(ids)}) and record.status <> 'deleting' group by record.collection_id
    ) as of_records on of_records.collection_id = collection.id
    left join collection_vector on collection_vector.collection_id = collection.id
    where collection.id in (${sql.join(ids)}) and collection.project_id = ${projectId} and collection.status = 'ready'`.execute(
    read,
  );
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((sets) => {
    const [row] = sets as [(typeof rows)[number]]; // a group has a row, and one for each set of vectors
    return {
      ...toCollection(row),
      ...toVectorsOfCollection(sets.flatMap((set) => (set.role === null ? [] : [set as VectorRow]))), // not null, either
      numRecords: Number(row.records ?? 0),
      numChunks: Number(row.chunks ?? 0) + Number(row.direct),
      numPendingRecords: Number(row.pending ?? 0),
      numKeptRecords: Number(row.kept ?? 0),
    };
  });
}

/** Columns whose names no column of a collection has. */
const vectorColumns = sql.raw(
  'role, model, dimensions, wanted, done, num_embedded, num_refused, num_tokens, error_reason, error_at, error_retry_at',
);
type VectorRow = Omit<Selectable<CollectionVectorTable>, 'id' | 'collection_id' | 'project_id'>;

interface CountedRow extends Selectable<CollectionTable>, Omit<Partial<VectorRow>, 'role'> {
  readonly role: VectorRow['role'] | null;
  readonly records: number | null;
  readonly chunks: number | null;
  readonly pending: number | null;
  readonly kept: number | null;
  readonly direct: number;
}

/** Returns the set in use and the other one. The tokens are those of both. */
function toVectorsOfCollection(rows: readonly VectorRow[]) {
  const numTokens = rows.reduce((sum, row) => sum + Number(row.num_tokens), 0);
  const sets = rows.map((row) => ({ ...toVectorSet(row), numTokens }));
  return {
    vectors: sets.find(({ role }) => role === 'live') ?? null,
    otherVectors: sets.find(({ role }) => role !== 'live') ?? null,
  };
}

function toVectorSet(row: VectorRow): Omit<VectorsOfCollection, 'numTokens'> {
  const { error_reason: reason, error_at: at } = row;
  return {
    role: row.role,
    model: row.model,
    dimensions: row.dimensions,
    needsBackfill: row.wanted > row.done,
    numEmbedded: Number(row.num_embedded),
    numRefused: Number(row.num_refused),
    lastError: reason === null || at === null ? null : { reason, at, retryAt: row.error_retry_at },
  };
}

function toCollection(row: Selectable<CollectionTable>): StoredCollection {
  return {
    id: row.id,
    projectId: row.project_id,
    type: row.type as CollectionType, // written by toRow
    name: row.name,
    description: row.description,
    capacity: row.capacity,
    embeddingModelId: row.embedding_model_id,
    embeddingPaused: row.embedding_paused === 1,
    retrieval: readRetrieval(row.retrieval),
    chunking: readChunking(row.chunking),
    metadata: parseJson(row.metadata) as Record<string, unknown>, // written by toRow
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Chunks at each end of a collection whose tokens are read for an estimate. */
const sampledChunks = 500;

async function findMeanTokens(read: Kysely<Tables>, collectionId: string): Promise<number> {
  const ofCollection = read.selectFrom('chunk').select('num_tokens').where('collection_id', '=', collectionId);
  const end = (direction: 'asc' | 'desc') => ofCollection.orderBy('id', direction).limit(sampledChunks).execute();
  const sample = [...(await end('asc')), ...(await end('desc'))];
  return sample.reduce((sum, row) => sum + row.num_tokens, 0) / Math.max(1, sample.length);
}

async function findRetrieval(read: Kysely<Tables>, collectionId: string): Promise<RetrievalDefaults> {
  const row = await read.selectFrom('collection').select('retrieval').where('id', '=', collectionId).executeTakeFirst();
  return readRetrieval(row?.retrieval ?? null);
}

function readRetrieval(stored: string | null): RetrievalDefaults {
  return stored === null ? {} : (parseJson(stored) as RetrievalDefaults); // written by toRow and `change`
}

/** Reads the settings that `columnsOf` and `toRow` have written. */
export function readChunking(stored: string | null): Chunking {
  return stored === null ? {} : (parseJson(stored) as Chunking); // written by this module
}

function columnsOf(change: CollectionChange): UpdateObject<Tables, 'collection'> {
  return {
    updated_at: change.updatedAt,
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.description === undefined ? {} : { description: change.description }),
    ...(change.embeddingPaused === undefined ? {} : { embedding_paused: change.embeddingPaused ? 1 : 0 }),
    ...(change.retrieval === undefined ? {} : { retrieval: JSON.stringify(change.retrieval) }),
    ...(change.chunking === undefined
      ? {}
      : {
          chunking: JSON.stringify(change.chunking),
          chunking_version: sql<number>`chunking_version + 1`,
          rechunking: 1 as const,
        }),
    ...(change.metadata === undefined ? {} : { metadata: JSON.stringify(change.metadata) }),
  };
}

function toRow(collection: StoredCollection): Insertable<CollectionTable> {
  return {
    id: collection.id,
    project_id: collection.projectId,
    type: collection.type,
    name: collection.name,
    description: collection.description,
    capacity: collection.capacity,
    embedding_model_id: collection.embeddingModelId,
    embedding_paused: collection.embeddingPaused ? 1 : 0,
    retrieval: JSON.stringify(collection.retrieval),
    chunking: JSON.stringify(collection.chunking),
    metadata: JSON.stringify(collection.metadata),
    status: 'ready',
    created_at: collection.createdAt,
    updated_at: collection.updatedAt,
  };
}
