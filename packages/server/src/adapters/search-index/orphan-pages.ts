import { type Kysely, sql } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { pagesPerSegment, pagesPerTransaction } from './segment-pages.ts';

/** Pages whose segment does not exist. No question reads them, and a new segment with their number could not be written. */
const orphans = sql`from index_page where not exists
  (select 1 from index_segment where index_segment.id = index_page.id / ${sql.lit(pagesPerSegment)})`;

export async function countOrphanPages(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ pages: number | string }>`select count(*) as pages ${orphans}`.execute(db);
  return Number(rows[0]?.pages ?? 0);
}

/** Deletes them in transactions of a bounded size. */
export async function deleteOrphanPages(write: Kysely<Tables>): Promise<void> {
  for (let last = -1, isComplete = false; !isComplete; ) {
    const { rows } = await sql<{ id: number }>`delete from index_page where id in (
      select id ${orphans} and id > ${last} order by id limit ${sql.lit(pagesPerTransaction)}) returning id`.execute(
      write,
    );
    last = Math.max(last, ...rows.map(({ id }) => id));
    isComplete = rows.length < pagesPerTransaction;
  }
}
