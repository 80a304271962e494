import { type Kysely, sql } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** A process reserves this many values for the small records that follow. */
const leastReserved = 100;

/**
 * Reserves values of `chunk.seq` outside of any transaction.
 * @param epoch changes when connections may lead to another server, which may give the values of lost transactions again
 */
export function createSeqReserve(db: Kysely<Tables>, epoch: () => number) {
  let free: readonly number[] = [];
  let epochOfFree = epoch();

  async function reserve(count: number): Promise<readonly number[]> {
    const { rows } = await sql<{ seq: number }>`select nextval(pg_get_serial_sequence('chunk', 'seq')) as seq
      from generate_series(1, ${count}::int)`.execute(db);
    return rows.map(({ seq }) => seq).sort((a, b) => a - b);
  }

  return async (count: number): Promise<readonly number[]> => {
    if (count >= leastReserved) return reserve(count);
    if (free.length < count || epoch() !== epochOfFree) {
      const known = epoch();
      free = await reserve(leastReserved);
      epochOfFree = known;
    }
    const taken = free.slice(0, count);
    free = free.slice(count);
    return taken;
  };
}
