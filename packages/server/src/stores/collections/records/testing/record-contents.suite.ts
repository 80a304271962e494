import type { Database } from '../../../../storage/database/database.ts';

interface RecordRow {
  readonly id: string;
  readonly status: string;
  readonly generation: number;
  readonly num_chunks: number;
  readonly report: string | null;
}

/** Returns everything stored for a record, without the parts that differ each time: ids, places, times. */
export async function contentOf({ read }: Database, { id, status, generation, num_chunks, report }: RecordRow) {
  const chunks = await read
    .selectFrom('chunk')
    .select(['ordinal', 'content', 'question', 'answer', 'num_tokens', 'metadata', 'locator', 'row_key'])
    .where('record_id', '=', id)
    .where('generation', '=', generation)
    .orderBy('ordinal')
    .execute();
  const refused = await read
    .selectFrom('record_row')
    .select(['status', 'code', 'sheet', 'place', 'excerpt', 'fields'])
    .where('record_id', '=', id)
    .orderBy('id')
    .execute();
  const { milliseconds: _, peak_memory_bytes: __, ...read_ } = JSON.parse(report ?? '{}') as Record<string, unknown>; // the service wrote it
  return { status, num_chunks, report: read_, chunks, refused };
}

export interface Stored {
  /** The number of visible and hidden chunks. */
  readonly chunks: number;
  /** The number of chunks according to the indexes. */
  readonly indexed: number;
  /** The number of pairs without an entry and of entries without a pair. */
  readonly wrongKeys: number;
}

export async function countStored({ read, searchIndex }: Database): Promise<Stored> {
  const counted = await read
    .selectFrom('chunk')
    .select((all) => all.fn.countAll().as('n'))
    .executeTakeFirstOrThrow();
  const collections = await read.selectFrom('collection').select('id').execute();
  const indexes = await Promise.all(collections.map(({ id }) => searchIndex.statistics(read, id)));
  const pairs = await read.selectFrom('chunk').select('seq').where('row_key', 'is not', null).execute();
  const entered = await read.selectFrom('pair_key').select('seq').execute();
  const [wanted, found] = [new Set(pairs.map(({ seq }) => seq)), new Set(entered.map(({ seq }) => seq))];
  return {
    chunks: Number(counted.n),
    indexed: indexes.reduce((sum, { chunks }) => sum + Number(chunks), 0),
    wrongKeys: wanted.symmetricDifference(found).size,
  };
}
