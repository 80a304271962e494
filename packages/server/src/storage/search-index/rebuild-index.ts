import { type Kysely, sql, type Transaction } from 'kysely';
import type { ChunkTexts } from '../database/chunk-texts.ts';
import type { Tables } from '../database/tables.ts';

/**
 * The maximum number of chunks that one step reads, and of characters except those of its first chunk, so that other
 * writers do not wait for long.
 */
const limits = { chunks: 500, characters: 40_000 } as const;

/** What the databases do differently. */
export interface RebuildParts {
  /** Analyses chunks outside of the event loop, and inserts their segment in the state `rebuilt`. */
  insertRebuilt(db: Transaction<Tables>, collectionId: string, chunks: readonly ChunkTexts[]): Promise<void>;
  /** The time from which on segments that are replaced now may be deleted; null for at once. */
  keptUntil(): number | null;
  /** Whether other transactions may have locked rows. Their records keep the mark of changed metadata. */
  readonly hasRowLocks: boolean;
}

/**
 * Does one step of the rebuild of a collection's index, in a write transaction that no other change of the index runs
 * beside. The first step begins the rebuild. Each further step builds a segment of some chunks, which no question reads.
 * When no chunk is left, the last step replaces the old index. A step that is interrupted has no effect, so that the next
 * process repeats it.
 * @returns true when the new index answers, or the collection is not there any more
 */
export async function rebuildSome(
  db: Transaction<Tables>,
  collectionId: string,
  parts: RebuildParts,
): Promise<boolean> {
  const rebuild = await db
    .selectFrom('index_rebuild')
    .select('reached')
    .where('collection_id', '=', collectionId)
    .executeTakeFirst();
  if (rebuild === undefined) return !(await begin(db, collectionId, parts));
  const chunks = await readChunks(db, collectionId, rebuild.reached);
  const last = chunks.at(-1);
  if (last === undefined) {
    await replaceIndex(db, collectionId, parts);
    return true;
  }
  await parts.insertRebuilt(db, collectionId, chunks);
  await db
    .updateTable('index_rebuild')
    .set((set) => ({ reached: last.id, chunks: set('chunks', '+', chunks.length) }))
    .where('collection_id', '=', collectionId)
    .execute();
  return false;
}

/** @returns false when the collection does not exist or is being deleted */
async function begin(db: Transaction<Tables>, collectionId: string, parts: RebuildParts): Promise<boolean> {
  const found = await db
    .selectFrom('collection')
    .select('id')
    .where('id', '=', collectionId)
    .where('status', '=', 'ready')
    .executeTakeFirst();
  if (found === undefined) return false;
  // The rebuild reads these metadata. A later change sets the mark to 1 again.
  await setMetadataMark(db, collectionId, { from: 1, to: 2, ...parts });
  await db.insertInto('index_rebuild').values({ collection_id: collectionId, reached: '', chunks: 0 }).execute();
  return true;
}

interface MarkChange extends Pick<RebuildParts, 'hasRowLocks'> {
  readonly from: number;
  readonly to: number;
}

/** A transaction that has locked a record may wait for this one. Records that keep the mark cost time, but are found. */
async function setMetadataMark(db: Kysely<Tables>, collectionId: string, { from, to, hasRowLocks }: MarkChange) {
  const marked = db
    .selectFrom('record')
    .select('id')
    .where('collection_id', '=', collectionId)
    .where('metadata_changed', '=', from);
  const changed = hasRowLocks ? marked.forUpdate().skipLocked() : marked;
  await db.updateTable('record').set({ metadata_changed: to }).where('id', 'in', changed).execute();
}

/** Reads the next chunks in the order of their ids. */
async function readChunks(db: Kysely<Tables>, collectionId: string, reached: string): Promise<readonly ChunkTexts[]> {
  const { rows } = await sql<ChunkTexts>`
    select seq, id, content, question, answer, record_id, metadata, locator, record_metadata, record_title, record_file
    from (
      select chunk.seq, chunk.id, chunk.content, chunk.question, chunk.answer, chunk.record_id, chunk.metadata,
        chunk.locator, record.metadata as record_metadata, record.title as record_title,
        case when record.file_id is null or record.content = '' then null else record.content end as record_file, row_number() over by_id as number,
        sum(length(chunk.content || coalesce(chunk.question, '') || coalesce(chunk.answer, ''))) over by_id as characters
      from (
        select * from chunk where collection_id = ${collectionId} and id > ${reached} order by id limit ${limits.chunks}
      ) as chunk left join record on record.id = chunk.record_id
      window by_id as (order by chunk.id)
    ) as page
    where number = 1 or characters <= ${limits.characters} order by id`.execute(db);
  return rows;
}

async function replaceIndex(db: Transaction<Tables>, collectionId: string, parts: RebuildParts): Promise<void> {
  const segments = db.updateTable('index_segment').where('collection_id', '=', collectionId);
  await segments.set({ state: 'retired', expires_at: parts.keptUntil() }).where('state', '=', 'live').execute();
  await segments.set({ state: 'live' }).where('state', '=', 'rebuilt').execute();
  await setMetadataMark(db, collectionId, { from: 2, to: 0, ...parts });
  await db.deleteFrom('index_rebuild').where('collection_id', '=', collectionId).execute();
}
