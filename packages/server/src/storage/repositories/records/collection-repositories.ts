import { type RawBuilder, sql } from 'kysely';
import type { ChunkRepository } from '../../../stores/collections/chunks/chunk-repository.ts';
import type { CollectionRepository } from '../../../stores/collections/collection-repository.ts';
import type { EvaluationRepository } from '../../../stores/collections/evaluations/evaluations.ts';
import type { RecordKey, RecordRepository } from '../../../stores/collections/records/record-repository.ts';
import type { RecordRowRepository } from '../../../stores/collections/records/record-rows.ts';
import type { RecordTextRepository, TextRange } from '../../../stores/collections/records/record-text-repository.ts';
import type { RechunkRepository } from '../../../stores/ingestion/rechunker.ts';
import type { RecordJobRepository } from '../../../stores/ingestion/record-job-repository.ts';
import { fromBytes } from '../../../stores/search/embedding/vectors.ts';
import { maxProbedText } from '../../../stores/search/query/similarity-scale.ts';
import type { SimilarityScaleRepository } from '../../../stores/search/similarity-scale-repository.ts';
import type { VectorRepository } from '../../../stores/search/vector-repository.ts';
import type { Database } from '../../database/database.ts';
import { createChunkRepository } from './chunk-repository.ts';
import { createCollectionRepository } from './collection-repository.ts';
import { createEvaluationRepository } from './evaluation-repository.ts';
import { createRechunkRepository } from './rechunking.ts';
import { createRecordJobRepository } from './record-job-repository.ts';
import { createRecordRepository } from './record-repository.ts';
import { createRecordRowRepository } from './record-rows.ts';
import { createVectorRepository } from './vector-repository.ts';
import { asChunkVector } from './vector-sets.ts';

/** The repositories of collections and their content. */
export interface CollectionRepositories {
  readonly collections: CollectionRepository;
  readonly records: RecordRepository;
  readonly jobs: RecordJobRepository;
  readonly rechunking: RechunkRepository;
  readonly chunks: ChunkRepository;
  readonly rows: RecordRowRepository;
  readonly texts: RecordTextRepository;
  readonly vectors: VectorRepository;
  readonly scales: SimilarityScaleRepository;
  readonly evaluations: EvaluationRepository;
}

/**
 * Creates all of them over one database.
 * @param quota the maximum number of bytes of a project; null without a limit
 */
export function createCollectionRepositories(database: Database, quota: number | null = null): CollectionRepositories {
  return {
    collections: createCollectionRepository(database, quota),
    records: createRecordRepository(database, quota),
    jobs: createRecordJobRepository(database, quota),
    rechunking: createRechunkRepository(database),
    chunks: createChunkRepository(database, quota),
    rows: createRecordRowRepository(database),
    texts: createRecordTextRepository(database),
    vectors: createVectorRepository(database),
    scales: createSimilarityScaleRepository(database),
    evaluations: createEvaluationRepository(database),
  };
}

/** PostgreSQL compares integers of four bytes. No text is as long. */
const longestText = 2 ** 31 - 1;

/** Reads the texts of chunks by their offsets, in either database. */
export function createRecordTextRepository({ read, dialect }: Database): RecordTextRepository {
  /** Only the offset leaves the database, because a locator also holds names of the document. */
  const offset = (name: 'char_start' | 'char_end') =>
    dialect === 'sqlite'
      ? sql<number>`json_extract(locator, ${sql.lit(`$.${name}`)})`
      : sql<number>`(locator::json ->> ${sql.lit(name)})::integer`;
  const [charStart, charEnd] = [offset('char_start'), offset('char_end')];

  function chunksOf(key: RecordKey) {
    const shown = read
      .selectFrom('record')
      .select('generation')
      .where('id', '=', key.recordId)
      .where('collection_id', '=', key.collectionId)
      .where('project_id', '=', key.projectId)
      .where('status', '<>', 'deleting');
    return read.selectFrom('chunk').where('record_id', '=', key.recordId).where('generation', '=', shown);
  }

  /**
   * Returns the largest ordinal at which no chunk up to it starts after the offset. Chunks are in the order of the text, so
   * this is a binary search, with one read of the index `chunk_of_record` for each bit of an ordinal.
   */
  function ordinalAt(key: RecordKey, offset: number): RawBuilder<number> {
    const above = chunksOf(key)
      .select(charStart.as('char_start'))
      .where('ordinal', '<=', sql<number>`place + step`)
      .where(charStart, 'is not', null)
      .orderBy('ordinal', 'desc')
      .limit(1);
    return sql<number>`(with recursive search (place, step) as (
      select 0, ${sql.lit(2 ** 30)}
      union all
      select case when coalesce(${above}, -1) <= ${Math.min(offset, longestText)} then place + step else place end, step / 2
      from search where step > 0
    ) select place from search where step = 0)`;
  }

  function readParts(key: RecordKey, { start, end, maxParts }: TextRange) {
    const first = chunksOf(key)
      .select((chunk) => chunk.fn.max('ordinal').as('ordinal'))
      .where('ordinal', '<=', ordinalAt(key, start))
      .where(charStart, 'is not', null);
    return chunksOf(key)
      .select(['content', 'created_at', 'updated_at', charStart.as('char_start'), charEnd.as('char_end')])
      .where('ordinal', '>=', sql<number>`coalesce(${first}, 0)`)
      .where('ordinal', '<=', ordinalAt(key, end - 1))
      .where(charStart, 'is not', null)
      .orderBy('ordinal')
      .limit(maxParts)
      .execute();
  }

  return {
    async read(key, range) {
      const rows = await readParts(key, range);
      const last = await chunksOf(key)
        .select(charEnd.as('char_end'))
        .where(charStart, 'is not', null)
        .orderBy('ordinal', 'desc')
        .limit(1)
        .executeTakeFirst();
      const parts = rows.map((row) => ({
        charStart: row.char_start,
        charEnd: row.char_end,
        content: row.content,
        isChanged: row.updated_at > row.created_at,
      }));
      return { parts, numCharacters: last?.char_end ?? 0 };
    },
  };
}

/** Stores the scales in either database. */
function createSimilarityScaleRepository({ read, write }: Database): SimilarityScaleRepository {
  return {
    async find(collectionId) {
      const row = await read
        .selectFrom('similarity_scale')
        .selectAll()
        .where('collection_id', '=', collectionId)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { collection_id, first_change: firstChange, last_change: lastChange, ...scale } = row;
      return { collectionId: collection_id, firstChange, lastChange, ...scale };
    },
    async save({ collectionId, firstChange, lastChange, model, unrelated, related, weight, share }) {
      const whole = (value: number) => sql`cast(${value} as bigint)`;
      const real = (value: number) => sql`cast(${value} as double precision)`;
      // A collection that is gone gets no row.
      await sql`insert into similarity_scale
          (collection_id, model, first_change, last_change, unrelated, related, weight, share)
        select id, ${model}, ${whole(firstChange)}, ${whole(lastChange)},
          ${real(unrelated)}, ${real(related)}, ${real(weight)}, ${real(share)}
        from collection where id = ${collectionId}
        on conflict (collection_id) do update set model = excluded.model, first_change = excluded.first_change,
          last_change = excluded.last_change, unrelated = excluded.unrelated, related = excluded.related,
          weight = excluded.weight, share = excluded.share`.execute(write);
    },
    async sample({ collectionId, slot, firstChange }, limit) {
      // The index has these columns, so that a large collection is scanned without its vectors.
      const seqs = read
        .selectFrom(asChunkVector(slot))
        .select('seq')
        .where('collection_id', '=', collectionId)
        .where('change', '>', firstChange)
        .orderBy(sql`(seq * 48271) % 2147483647`)
        .orderBy('seq')
        .limit(limit);
      const rows = await read
        .selectFrom(asChunkVector(slot))
        .innerJoin('chunk', 'chunk.seq', 'chunk_vector.seq')
        .select((column) => [
          'chunk_vector.vector',
          sql<string>`substr(${column.fn.coalesce('chunk.question', 'chunk.content')}, 1, ${sql.lit(maxProbedText)})`.as(
            'text',
          ),
        ])
        .where('chunk_vector.seq', 'in', seqs)
        .orderBy(sql`(chunk_vector.seq * 48271) % 2147483647`)
        .orderBy('chunk_vector.seq')
        .execute();
      return rows.map(({ text, vector }) => ({ text, vector: vector && fromBytes(vector) }));
    },
  };
}
