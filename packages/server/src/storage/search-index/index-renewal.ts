import { type Kysely, sql, type Transaction } from 'kysely';
import type { Registry } from '../../platform/metrics.ts';
import type { ChunkTexts } from '../database/chunk-texts.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { createIndexRebuilder, type IndexRebuilderDeps, type RebuildSome } from './index-rebuilder.ts';
import { createRebuildMetrics, createRefreshMetrics, type RefreshMetrics } from './merge-metrics.ts';

/** Rebuilds the indexes that are due, and then indexes the chunks of changed records again. Each call does one step. */
export function createIndexRenewal(
  deps: Omit<IndexRebuilderDeps & RecordRefresherDeps, 'metrics'>,
  registry: Registry | undefined,
): RebuildSome {
  const rebuildSome = createIndexRebuilder({ ...deps, metrics: createRebuildMetrics(registry) });
  const refreshSome = createRecordRefresher({ ...deps, metrics: createRefreshMetrics(registry) });
  return async () => (await rebuildSome()) ?? refreshSome();
}

interface RecordRefresherDeps extends Pick<Database, 'dialect' | 'write' | 'searchIndex'> {
  readonly metrics: RefreshMetrics;
}

/** The maximum number of chunks that one step indexes again, and of characters except those of its first chunk. */
const limits = { chunks: 500, characters: 40_000 } as const;

/**
 * Indexes the chunks of records again whose metadata have changed, because the terms of the chunks are those of the
 * metadata before. Each step does so for some chunks of one record and stores the last one, so that any process continues
 * it. A further change of the record begins again. The step that finds no chunk left clears the mark of the record.
 */
export function createRecordRefresher({ dialect, write, searchIndex, metrics }: RecordRefresherDeps): RebuildSome {
  return async () => {
    // Mostly no record is marked, and this costs no transaction.
    if ((await countMarked(write)) === 0) return undefined;
    return write.transaction().execute(async (db) => {
      const record = await findMarked(db, dialect);
      if (record === undefined) return undefined;
      const { id, collection_id: collectionId, metadata_reached: reached } = record;
      if (reached === null) metrics.changed(await countMarked(db));
      const chunks = await readChunks(db, id, reached === null ? first : JSON.parse(reached));
      const last = chunks.at(-1);
      if (last === undefined) {
        await setMark(db, id, { metadata_changed: 0, metadata_reached: null });
        metrics.refreshed();
        return collectionId;
      }
      // A rebuild that has begun meanwhile clears the mark itself.
      if (!(await searchIndex.reindex(db, collectionId, chunks))) return collectionId;
      await setMark(db, id, { metadata_reached: JSON.stringify([last.generation, last.ordinal, last.seq]) });
      return collectionId;
    });
  };
}

/**
 * Finds a marked record, and locks it with its collection, so that nothing else changes its chunks. Records that another
 * transaction has locked are left for later: waiting for a second lock could never end. The index of a collection that is
 * rebuilt is left to the rebuild.
 */
async function findMarked(db: Transaction<Tables>, dialect: Database['dialect']) {
  const marked = db
    .selectFrom('record')
    .innerJoin('collection', 'collection.id', 'record.collection_id')
    .select(['record.id', 'record.collection_id', 'record.metadata_reached'])
    .where('record.metadata_changed', '>', 0)
    .where('collection.status', '=', 'ready')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('index_rebuild').select('chunks').whereRef('collection_id', '=', 'record.collection_id'))),
    )
    .limit(1);
  return (dialect === 'postgres' ? marked.forNoKeyUpdate().skipLocked() : marked).executeTakeFirst();
}

/** The generation, ordinal and seq of a chunk. */
type Place = readonly [number, number, number];
const first: Place = [-1, -1, -1];

interface PlacedChunk extends ChunkTexts {
  readonly generation: number;
  readonly ordinal: number;
}

/** Reads the next chunks of a record in the order of an index, which only lacks the seq. */
async function readChunks(db: Kysely<Tables>, recordId: string, place: Place): Promise<readonly PlacedChunk[]> {
  const after = sql.join(place.map((number) => sql`cast(${number} as bigint)`));
  const { rows } = await sql<PlacedChunk>`
    select seq, id, content, question, answer, record_id, metadata, locator, record_metadata, record_title, record_file,
      generation, ordinal
    from (
      select chunk.*, record.metadata as record_metadata, record.title as record_title,
        case when record.file_id is null or record.content = '' then null else record.content end as record_file, row_number() over by_place as number,
        sum(length(chunk.content || coalesce(chunk.question, '') || coalesce(chunk.answer, ''))) over by_place as characters
      from (
        select * from chunk where record_id = ${recordId} and (generation, ordinal, seq) > (${after})
        order by generation, ordinal, seq limit ${limits.chunks}
      ) as chunk cross join (select * from record where id = ${recordId}) as record
      window by_place as (order by chunk.generation, chunk.ordinal, chunk.seq)
    ) as page
    where number = 1 or characters <= ${limits.characters} order by generation, ordinal, seq`.execute(db);
  return rows;
}

async function countMarked(db: Kysely<Tables>): Promise<number> {
  const counted = db.selectFrom('record').select(sql<number>`count(*)`.as('records'));
  return Number((await counted.where('metadata_changed', '>', 0).executeTakeFirst())?.records ?? 0);
}

async function setMark(
  db: Kysely<Tables>,
  recordId: string,
  mark: { metadata_changed?: number; metadata_reached: string | null },
): Promise<void> {
  await db.updateTable('record').set(mark).where('id', '=', recordId).execute();
}
