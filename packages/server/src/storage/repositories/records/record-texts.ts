import { type RawBuilder, sql } from 'kysely';
import type { RecordKey } from '../../../stores/collections/records/record-repository.ts';
import type { RecordTextRepository, TextRange } from '../../../stores/collections/records/record-text-repository.ts';
import type { Database } from '../../database/database.ts';

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
