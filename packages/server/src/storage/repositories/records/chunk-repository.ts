import type { ChunkListQuery } from '@quartermaster/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import { parseJson } from '../../../platform/json/parse-json.ts';
import type {
  ChunkChange,
  ChunkKey,
  ChunkListKey,
  ChunkRepository,
  Neighbour,
  NewChunk,
} from '../../../stores/collections/chunks/chunk-repository.ts';
import type { ScanBox } from '../../../stores/extraction/page-protocol.ts';
import { countFieldTerms } from '../../../stores/search/analysis/field-terms.ts';
import type { DescribedChunk } from '../../../stores/search/chunk-index.ts';
import { listFilterTerms } from '../../../stores/search/filter-terms.ts';
import { chunkColumns, columnsOfChunk } from '../../database/chunk-columns.ts';
import { contentOf, headingOf, toTextColumns } from '../../database/chunk-content.ts';
import { bytesOfChunk } from '../../database/counted-bytes.ts';
import type { ChunkRow, Database } from '../../database/database.ts';
import { isOwned, type KeysetWindow, readKeysetPage, readWeighedPage, rowWeight } from '../../database/keyset-page.ts';
import { countRows, withoutIndex } from '../../database/row-limit.ts';
import type { Tables } from '../../database/tables.ts';
import { namesOfRecord } from '../../database/visible-chunks.ts';
import { changeChunkBytes, checkRoom } from '../project-usage.ts';
import { prepareChunks, readOwner, toChunk, toOwner, toStoredLocator } from './chunk-rows.ts';
import { fitsCapacity, isReady, lockCollection, readLocked } from './lock-collection.ts';
import { removeKeys } from './pair-keys.ts';
import { wantVectors } from './vector-repository.ts';
import { dropVectors } from './vector-sets.ts';

/**
 * Stores chunks in either database.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createChunkRepository(database: Database, quota: number | null = null): ChunkRepository {
  const { read, searchIndex } = database;
  return {
    add: (projectId, collectionId, chunk) => addDirect(database, { projectId, collectionId, quota }, chunk),
    async find(key) {
      const row = await visibleIn(read, key).where('chunk.id', '=', key.chunkId).executeTakeFirst();
      return row === undefined ? undefined : toChunk(row);
    },
    async findBoxes(key) {
      const rows = visibleIn(read, key).clearSelect().select('chunk.scan_boxes');
      const row = await rows.where('chunk.id', '=', key.chunkId).executeTakeFirst();
      return row?.scan_boxes == null ? [] : (parseJson(row.scan_boxes) as readonly ScanBox[]); // written by toRow
    },
    list: (of, query) => list(database, of, query),
    change: (key, change) => changeChunk(database, { ...key, quota }, change),
    remove: (key) => removeChunk(database, key),
    async rank(search) {
      const found = await searchIndex.ask(read, search);
      return found.map(({ chunk, ...ranked }) => (chunk === undefined ? ranked : { ...ranked, chunk: toChunk(chunk) }));
    },
    describe: (seqs) => describe(database, seqs),
    describeNeighbours: (seqs, distance) => describeNeighbours(read, seqs, distance),
    async fetch(collectionIds, seqs) {
      if (seqs.length === 0) return new Map();
      const rows = await visible(read)
        .where('chunk.seq', 'in', seqs)
        .where(withoutIndex<string>(database.dialect, 'chunk.collection_id'), 'in', collectionIds)
        .execute();
      return new Map(rows.map((row) => [row.seq, toChunk(row)]));
    },
  };
}

interface WithQuota {
  /** Bytes; null without a limit. */
  readonly quota: number | null;
}

/** Selects chunks that were created directly, and those of the generation that their record shows. */
function visible(db: Kysely<Tables>) {
  return db
    .selectFrom('chunk')
    .leftJoin('record', 'record.id', 'chunk.record_id')
    .select([...columnsOfChunk, ...namesOfRecord])
    .where((where) =>
      where.or([where('chunk.record_id', 'is', null), where('chunk.generation', '=', where.ref('record.generation'))]),
    );
}

function visibleIn(db: Kysely<Tables>, of: Pick<ChunkKey, 'collectionId' | 'projectId'>) {
  return visibleOf(db, of).where('chunk.collection_id', '=', of.collectionId);
}

/** Does not name the collection of the chunks. */
function visibleOf(db: Kysely<Tables>, of: Pick<ChunkKey, 'collectionId' | 'projectId'>) {
  return visible(db).where('chunk.project_id', '=', of.projectId).where(isReady(of));
}

async function list(database: Database, of: ChunkListKey, query: ChunkListQuery) {
  const owned = { dialect: database.dialect, by: { 'chunk.collection_id': of.collectionId } };
  const every = visibleOf(database.read, of);
  const all = of.recordId === undefined ? every : every.where('chunk.record_id', '=', of.recordId);
  const isEdited = query.edited === true;
  const rows = isEdited ? all.whereRef('chunk.updated_at', '>', 'chunk.created_at') : all;
  const within = sql<boolean>`chunk.collection_id = ${of.collectionId}`;
  const weighed = { weight: rowWeight(weightOfChunk), joined: namesOfRecord, within, owned };
  const chunks = { table: 'chunk', columns: chunkColumns, ...weighed } as const;
  const readPage = (window: KeysetWindow) => readWeighedPage<ChunkRow, 'chunk'>(database, rows, { ...chunks, window });
  // Collections and records store the number of all their chunks.
  const page = await readKeysetPage(
    query,
    readPage,
    isEdited ? () => countRows(database.read, rows.where(isOwned(owned))) : null,
  );
  return { ...page, items: page.items.map(toChunk) };
}

/** The content of a pair repeats question and answer, but is not stored. */
const weightOfChunk = {
  texts: ['chunk.content', 'chunk.question', 'chunk.answer', 'chunk.question', 'chunk.answer'],
  json: ['chunk.metadata', 'chunk.locator'],
};

/** Chunks with the same texts have the same least seq. Their numbers of tokens decide most comparisons. */
async function describe(
  { read, dialect }: Database,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, DescribedChunk>> {
  if (seqs.length === 0) return new Map();
  // The collation of a database may take a multiple of the time.
  const bytes = sql.raw(dialect === 'postgres' ? ' collate "C"' : '');
  const texts = sql.join(['content', 'question', 'answer'].map((name) => sql`${sql.ref(`chunk.${name}`)}${bytes}`));
  const rows = await read
    .selectFrom('chunk')
    .select(['seq', 'id', 'collection_id', 'record_id', 'num_tokens', rowWeight(weightOfChunk)])
    .select(sql<number>`min(chunk.seq) over (partition by chunk.num_tokens, ${texts})`.as('text'))
    .where('seq', 'in', seqs)
    .execute();
  return new Map(
    rows.map(({ seq, id, collection_id, record_id, num_tokens, weight, text }) => [
      seq,
      { id, collectionId: collection_id, recordId: record_id, numTokens: num_tokens, weight, text },
    ]),
  );
}

async function describeNeighbours(
  read: Kysely<Tables>,
  seqs: readonly number[],
  distance: number,
): Promise<readonly Neighbour[]> {
  if (seqs.length === 0) return [];
  const rows = await read
    .selectFrom('chunk as hit')
    .innerJoin('chunk', (join) =>
      join
        .onRef('chunk.record_id', '=', 'hit.record_id')
        .onRef('chunk.generation', '=', 'hit.generation')
        .on((on) => on('chunk.ordinal', '>=', on('hit.ordinal', '-', distance)))
        .on((on) => on('chunk.ordinal', '<=', on('hit.ordinal', '+', distance))),
    )
    .select((column) => [
      ...(['hit.seq as of', 'chunk.seq', 'chunk.num_tokens'] as const),
      column('chunk.ordinal', '-', column.ref('hit.ordinal')).as('offset'),
      rowWeight(weightOfChunk),
    ])
    .where('hit.seq', 'in', seqs)
    .whereRef('chunk.ordinal', '!=', 'hit.ordinal')
    .execute();
  return rows.map(({ num_tokens: numTokens, offset, ...row }) => ({ ...row, numTokens, offset: Number(offset) }));
}

async function addDirect(
  database: Database,
  { projectId, collectionId, quota }: { projectId: string; collectionId: string } & WithQuota,
  chunk: NewChunk,
): Promise<'added' | 'gone' | 'full'> {
  const place = { projectId, collectionId, recordId: null, generation: 0 };
  const prepared = await prepareChunks(database, { place, owner: toOwner(null, undefined), chunks: [chunk] });
  return database.write.transaction().execute(async (transaction) => {
    const collection = await lockCollection(transaction, collectionId);
    if (collection === undefined) return 'gone';
    const { indexed, hasVectors } = await readLocked(transaction, collectionId);
    const target = { collectionId, capacity: collection.capacity, indexed };
    if (!(await fitsCapacity(transaction, target, { unwritten: 1, added: 1, without: null }))) return 'full';
    await prepared.insert(transaction);
    if (hasVectors) await wantVectors(transaction, collectionId, chunk.id);
    await growWithin(transaction, { ...place, quota }, prepared.bytes);
    return 'added';
  });
}

function changeChunk(
  { write, searchIndex }: Database,
  { quota, ...key }: ChunkKey & WithQuota,
  change: ChunkChange,
): Promise<boolean> {
  return write.transaction().execute(async (transaction) => {
    const found = await findPlace(transaction, key);
    // Locks the record before the collection, as a publication does, to prevent a deadlock.
    if (found === undefined || !(await markChanged(transaction, found))) return false;
    if ((await lockCollection(transaction, key.collectionId)) === undefined) return false;
    const seen = await findPlace(transaction, key);
    if (seen === undefined) return false;
    const { metadata, text } = change;
    const changed = await transaction
      .updateTable('chunk')
      .set({
        updated_at: change.updatedAt,
        ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
        ...(text === undefined ? {} : toTextColumns(text)),
        ...(text?.locator === undefined ? {} : { locator: toStoredLocator(text.locator), scan_boxes: null }),
      })
      .where('seq', '=', seen.seq)
      .returning(['content', 'question', 'answer', 'metadata', 'locator', 'record_id'])
      .returning(bytesOfChunk.as('bytes'))
      .executeTakeFirst();
    // In PostgreSQL the chunk may have been swept since it was read. Its words must not return to the index.
    if (changed === undefined) return false;
    const owner = await readOwner(transaction, changed.record_id);
    const { question } = changed;
    const filterTerms = listFilterTerms({
      ...owner,
      question,
      metadata: parseJson(changed.metadata) as Record<string, unknown>, // written by toRow
    });
    const fields = { ...owner, question, heading: headingOf(changed.locator), content: contentOf(changed) };
    const words = countFieldTerms(fields, text?.folded);
    await searchIndex.remove(transaction, key.collectionId, [seen.seq]);
    await searchIndex.add(transaction, key.collectionId, [{ seq: seen.seq, words, filterTerms }]);
    if (text !== undefined) {
      await dropVectors(transaction, key.collectionId, [seen.seq]);
      await wantVectors(transaction, key.collectionId, key.chunkId);
    }
    const of = { projectId: key.projectId, recordId: changed.record_id, quota };
    await growWithin(transaction, of, Number(changed.bytes) - Number(seen.bytes));
    return true;
  });
}

function removeChunk({ write, dialect, searchIndex }: Database, key: ChunkKey): Promise<boolean> {
  return write.transaction().execute(async (transaction) => {
    const seen = await findPlace(transaction, key);
    if (seen === undefined) return false;
    // Locks the record first and then its chunk, as the sweep does, to prevent a deadlock.
    if (!(await markChanged(transaction, seen))) return false;
    await dropVectors(transaction, key.collectionId, [seen.seq]);
    const gone = transaction.deleteFrom('chunk').where('seq', '=', seen.seq).returning(bytesOfChunk.as('bytes'));
    const removed = await gone.executeTakeFirst();
    if (removed === undefined) return false;
    await searchIndex.remove(transaction, key.collectionId, [seen.seq]);
    await removeKeys(transaction, dialect, [seen]);
    if (seen.record_id !== null) {
      await transaction
        .updateTable('record')
        .set((column) => ({ num_chunks: column('num_chunks', '-', 1) }))
        .where('id', '=', seen.record_id)
        .execute();
    }
    await changeChunkBytes(transaction, { projectId: key.projectId, recordId: seen.record_id }, -Number(removed.bytes));
    return true;
  });
}

/** @throws RESOURCE_LIMIT_REACHED when the project then exceeds its quota */
async function growWithin(
  transaction: Transaction<Tables>,
  { quota, ...of }: { readonly projectId: string; readonly recordId: string | null } & WithQuota,
  bytes: number,
): Promise<void> {
  const used = await changeChunkBytes(transaction, of, bytes);
  checkRoom('chunk', { used, bytes, quota });
}

/** Returns the columns that a request needs to change or remove a chunk. */
function findPlace(transaction: Transaction<Tables>, key: ChunkKey) {
  return visibleIn(transaction, key)
    .clearSelect()
    .select(['chunk.seq', 'chunk.collection_id', 'chunk.record_id', 'chunk.generation', 'chunk.row_key'])
    .select(bytesOfChunk.as('bytes'))
    .where('chunk.id', '=', key.chunkId)
    .executeTakeFirst();
}

/** Notes that a request changes a chunk of the record, and locks the record. @returns false when the chunk was replaced */
async function markChanged(
  transaction: Transaction<Tables>,
  chunk: { readonly record_id: string | null; readonly generation: number },
): Promise<boolean> {
  if (chunk.record_id === null) return true;
  const record = await transaction
    .updateTable('record')
    .set({ chunks_changed: 1 })
    .where('id', '=', chunk.record_id)
    .where('generation', '=', chunk.generation)
    .executeTakeFirst();
  return record.numUpdatedRows === 1n;
}
