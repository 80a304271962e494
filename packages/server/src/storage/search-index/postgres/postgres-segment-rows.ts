import { type Kysely, sql } from 'kysely';
import { analysisVersion } from '../../../stores/search/analysis/analysis-version.ts';
import { mostAllowedRecords, mostRecordsOfFiles, type RecordOfFile } from '../../../stores/search/restriction.ts';
import type { IndexedChunk } from '../../../stores/search/search-index.ts';
import type { Tables } from '../../database/tables.ts';
import { pagesPerSegment } from '../segment-pages.ts';
import type { FetchedEntry, FetchedPages, PackedSegment, ReadPart, ReadRequest } from './postgres-index-protocol.ts';
import type { MissingPages } from './prefetched-store.ts';

/** The segments of a collection at one moment. */
export interface ListedCollection {
  /** False when the project has no such collection. True without a project. */
  readonly exists: boolean;
  /** The ids of the live segments in their order. */
  readonly segments: readonly number[];
  /** Records with changed metadata, at most one more than `mostAllowedRecords`. Empty without a filter. */
  readonly changedRecords: readonly string[];
  /** The records of the files; null when there are more than `mostRecordsOfFiles`. Empty without a filter. */
  readonly ofFiles: readonly RecordOfFile[] | null;
}

interface ListedOptions {
  readonly collectionId: string;
  readonly projectId?: string | undefined;
  /** The files of a filter, or null when there is no filter. */
  readonly filesOfFilter?: readonly string[] | null;
}

export async function listCollection(
  db: Kysely<Tables>,
  { collectionId, projectId, filesOfFilter = null }: ListedOptions,
): Promise<ListedCollection> {
  const exists =
    projectId === undefined
      ? sql`true`
      : sql`exists (select from collection
          where id = ${collectionId} and project_id = ${projectId} and status = 'ready')`;
  const ofFilter = filesOfFilter === null ? sql`` : selectForFilter(collectionId, filesOfFilter);
  const { rows } = await sql<ListedRow>`
    select ${exists} as exists,
      (select json_agg(id order by position) from index_segment
        where collection_id = ${collectionId} and state = 'live') as ids${ofFilter}`.execute(db);
  const [row] = rows;
  return {
    exists: row?.exists === true,
    segments: row?.ids ?? [],
    changedRecords: row?.changed ?? [],
    ofFiles: (row?.of_files?.length ?? 0) > mostRecordsOfFiles ? null : (row?.of_files ?? []),
  };
}

interface ListedRow {
  readonly exists: boolean;
  readonly ids: readonly number[] | null;
  readonly changed?: readonly string[] | null;
  readonly of_files?: readonly RecordOfFile[] | null;
}

function selectForFilter(collectionId: string, files: readonly string[]) {
  const changed = sql`, (select json_agg(id) from (select id from record
      where collection_id = ${collectionId} and metadata_changed > 0 limit ${mostAllowedRecords + 1}) as found) as changed`;
  if (files.length === 0) return changed;
  return sql`${changed}, (select json_agg(found) from (select id as "recordId", file_id as "fileId" from record
      where collection_id = ${collectionId} and file_id in (${sql.join(files)}) limit ${mostRecordsOfFiles + 1}) as found) as of_files`;
}

/** Builds PostgreSQL's array literal. It is faster than an array of parameters and needs only one parameter. */
const literal = (numbers: readonly number[]) => `{${numbers.join()}}`;

/**
 * Fetches headers and pages with one statement.
 * @returns undefined when one of them is gone
 */
export async function fetchMissing(db: Kysely<Tables>, missing: MissingPages): Promise<FetchedPages | undefined> {
  const { headers, pages } = missing;
  const ids = new Set<number>();
  for (const { segment, first, count } of pages) {
    for (let page = first; page < first + count; page++) ids.add(segment * pagesPerSegment + page);
  }
  const { rows } = await sql<{ id: number; is_header: boolean; bytes: Uint8Array }>`
    select id, true as is_header, header as bytes from index_segment where id = any(${literal(headers)}::bigint[])
    union all
    select id, false, data from index_page where id = any(${literal([...ids])}::bigint[])`.execute(db);
  if (rows.length < headers.length + ids.size) return undefined;
  const entries = rows.map(({ id, is_header, bytes }): FetchedEntry => {
    const place = is_header
      ? { segment: id, page: null }
      : { segment: Math.floor(id / pagesPerSegment), page: id % pagesPerSegment };
    return { ...place, size: bytes.length };
  });
  return { entries, bytes: Buffer.concat(rows.map(({ bytes }) => bytes)) };
}

export interface NewSegment extends PackedSegment {
  readonly collectionId: string;
  readonly state: 'live' | 'rebuilt';
  readonly chunks: number;
  readonly removals: number;
}

/**
 * Inserts a segment and its pages with one statement. Its place in the order of the collection is its id.
 * @returns the id up to which a rebuild has read the chunks, which stays so while a transaction holds off rebuilds; null
 * when none is in progress
 */
export async function insertSegment(db: Kysely<Tables>, segment: NewSegment): Promise<string | null> {
  const { collectionId, state, chunks, removals, header, pages, sizes } = segment;
  const { rows } = await sql<{ reached: string | null }>`with segment as (
      insert into index_segment (id, collection_id, state, position, chunks, removals, pages, header, analysis)
      overriding system value
      select id, ${collectionId}, ${sql.lit(state)}, id, ${chunks}::bigint, ${removals}::bigint,
        ${sizes.length}::bigint, ${toBuffer(header)}::bytea, ${analysisVersion}::bigint
      from (select nextval(pg_get_serial_sequence('index_segment', 'id')) as id) as next
      returning id
    ), pages as (
      insert into index_page (id, data)
      select segment.id * ${pagesPerSegment}::bigint + page.number - 1, page.data
      from segment, ${unnestPages(pages, sizes)}
    )
    select (select reached from index_rebuild where collection_id = ${collectionId}) as reached`.execute(db);
  return rows[0]?.reached ?? null;
}

/** Returns the chunks that a rebuild does not read any more. It reads chunks in the order of their ids. */
export async function findPassed(
  db: Kysely<Tables>,
  chunks: readonly IndexedChunk[],
  reached: string,
): Promise<readonly IndexedChunk[]> {
  const { rows } = await sql<{ seq: number }>`
    select seq from chunk where seq = any(${literal(chunks.map(({ seq }) => seq))}::bigint[])
      and id <= ${reached}`.execute(db);
  const passed = new Set(rows.map(({ seq }) => seq));
  return chunks.filter(({ seq }) => passed.has(seq));
}

/** Inserts rows of (id, data), whose ids follow one another. */
export async function insertPages(
  db: Kysely<Tables>,
  pages: ReadonlyArray<readonly [number, Uint8Array]>,
): Promise<void> {
  const [first] = pages;
  if (first === undefined) return;
  const bytes = Buffer.concat(pages.map(([, page]) => page));
  const sizes = pages.map(([, page]) => page.length);
  await sql`insert into index_page (id, data)
    select ${first[0]}::bigint + page.number - 1, page.data from ${unnestPages(bytes, sizes)}`.execute(db);
}

/** Divides the bytes into pages. The driver sends one parameter as it is, but an array of them as text. */
function unnestPages(bytes: Uint8Array, sizes: readonly number[]) {
  let end = 1;
  const starts = sizes.map((size) => {
    const start = end;
    end += size;
    return start;
  });
  return sql`(select number, substring(${toBuffer(bytes)}::bytea from start for size) as data
    from unnest(${literal(starts)}::int[], ${literal(sizes)}::int[]) with ordinality as part (start, size, number)) as page`;
}

/** The driver sends a Buffer, and not every Uint8Array, as bytes. */
function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Answers the reads of a merge or a check. */
export async function readForThread(db: Kysely<Tables>, request: ReadRequest): Promise<unknown> {
  switch (request.kind) {
    case 'header': {
      const rows = await db.selectFrom('index_segment').select('header').where('id', '=', request.segment).execute();
      return rows[0] === undefined ? null : Uint8Array.from(rows[0].header);
    }
    case 'parts':
      return readParts(db, request.segments);
    case 'pages':
      return readPages(db, request);
    case 'segments':
      return db
        .selectFrom('index_segment')
        .select(['id', 'position', 'chunks', 'removals', 'pages'])
        .where('collection_id', '=', request.collectionId)
        .where('state', '=', 'live')
        .orderBy('position')
        .execute();
    case 'chunks': {
      const { collectionId, after, limit } = request;
      return db
        .selectFrom('chunk')
        .select(['seq', 'id'])
        .where('collection_id', '=', collectionId)
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit)
        .execute();
    }
  }
}

/** Most segments that are merged have few pages. */
const pagesAhead = 2;

async function readParts(db: Kysely<Tables>, segments: readonly number[]): Promise<ReadPart[]> {
  const { rows } = await sql<ReadPart>`
    select id, header, array(select data from index_page
      where index_page.id >= index_segment.id * ${sql.lit(pagesPerSegment)}
        and index_page.id < index_segment.id * ${sql.lit(pagesPerSegment)} + ${sql.lit(pagesAhead)}
      order by index_page.id) as pages
    from index_segment where id = any(${literal(segments)}::bigint[])`.execute(db);
  return rows.map(({ id, header, pages }) => ({
    id,
    header: Uint8Array.from(header),
    pages: pages.map((page) => Uint8Array.from(page)),
  }));
}

async function readPages(
  db: Kysely<Tables>,
  { segment, first, count }: Extract<ReadRequest, { kind: 'pages' }>,
): Promise<Uint8Array[]> {
  const from = segment * pagesPerSegment + first;
  const end = Math.min(from + count, (segment + 1) * pagesPerSegment);
  const rows = await db
    .selectFrom('index_page')
    .selectAll()
    .where('id', '>=', from)
    .where('id', '<', end)
    .orderBy('id')
    .execute();
  const gap = rows.findIndex(({ id }, at) => id !== from + at);
  // A copy has a buffer of its own. The driver's may share a larger one, which a message would copy whole.
  return rows.slice(0, gap < 0 ? rows.length : gap).map(({ data }) => Uint8Array.from(data));
}
